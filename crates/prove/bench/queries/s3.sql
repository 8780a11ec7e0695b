-- A filter, many groups, and the greatest of them.
select l_partkey, sum(l_extendedprice) as revenue, count(*) as n_lines
from {lineitem}
where l_shipdate >= date '1995-01-01' and l_quantity < 30
group by l_partkey
order by revenue desc, l_partkey
limit 20
