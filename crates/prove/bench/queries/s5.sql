-- A predicate on a column that is masked, and so may not prune by stored values.
select o_orderpriority, count(*) as n_orders
from {orders}
where o_totalprice >= 350000
group by o_orderpriority
order by o_orderpriority
