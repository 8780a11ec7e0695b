//! Every bound this door keeps, with the reason for it.

use std::time::Duration;

/// A message before authentication: names and a SCRAM proof fit many times over, and nobody has proved who she is.
pub(crate) const STARTUP_BYTES_MAX: usize = 10_000;

/// A message after authentication: a statement or its parameters are held in memory whole.
pub(crate) const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// One row as sent: a client's own limit is near 1 GiB, and a row is held in memory whole.
pub(crate) const ROW_BYTES_MAX: usize = 256 << 20;

/// Output is written once this much is waiting, so that a result never piles up in memory.
pub(crate) const FLUSH_BYTES: usize = 64 << 10;

/// How far requests are read ahead while a statement runs; it is read at all so that a client's leaving is noticed.
pub(crate) const READ_AHEAD_BYTES_MAX: usize = 1 << 20;

/// Prepared statements of one connection: a client that never closes them must not fill the server.
pub(crate) const STATEMENTS_MAX: usize = 10_000;

/// Open portals of one connection: each may hold a running query.
pub(crate) const PORTALS_MAX: usize = 1_000;

/// Elements of an array parameter: each becomes a value in memory before the array is built.
pub(crate) const ARRAY_ELEMENTS_MAX: usize = 1 << 20;

/// Dimensions of an array parameter, as PostgreSQL bounds them.
pub(crate) const ARRAY_DIMENSIONS_MAX: usize = 6;

/// How long to wait after a failure to accept, which lasts as long as file handles are short.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Room made before each read, so that large messages do not come in crumbs.
pub(crate) const READ_BYTES: usize = 16 << 10;

/// Sockets beyond `connections_max` that may be on their way to a refusal or carry a cancel request.
pub(crate) const SPARE_SOCKETS: usize = 64;

/// From the first byte to a session: whoever is slower holds a socket for nothing.
pub(crate) const STARTUP_DEADLINE: Duration = Duration::from_secs(30);

/// How long a cancelled statement may take to end by itself before it is dropped.
pub(crate) const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// How long running statements may go on once the server is told to stop.
pub(crate) const SHUTDOWN_DRAIN: Duration = Duration::from_secs(10);

/// How long connections may take to say goodbye after their statements were cancelled.
pub(crate) const SHUTDOWN_GRACE: Duration = Duration::from_secs(7);
