//! Makes the same policies, people and requests for every engine, from a seed.

mod names;
mod people;
mod policies;
mod requests;
mod rng;
mod service;
mod shape;
mod tags;

use policy::model::State;

use people::People;
pub use policies::Target;
pub use requests::{Asked, Mix, requests};
pub(crate) use rng::Rng;
pub use service::SERVICE;
pub use shape::Shape;

/// One truth, with what is needed to ask about it.
pub struct World {
    pub(crate) shape: Shape,
    pub state: State,
    pub(crate) people: People,
    /// What each policy of the service speaks of, in the order of their ids, which begin with 1.
    pub targets: Vec<Target>,
}

impl World {
    pub fn new(shape: Shape, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let people = People::new(&shape, &mut rng);
        let (policies, targets) = policies::policies(&shape, &people, &mut rng);
        let mut state = State::default();
        service::add(&mut state, &shape);
        people.add(&mut state);
        for policy in policies {
            state.policies.insert(policy.id, policy);
        }
        tags::add(&mut state, &shape, &people, &mut rng);
        Self { shape, state, people, targets }
    }
}
