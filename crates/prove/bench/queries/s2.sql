-- The newest lines: an order with a limit, which the scan may use to skip.
select l_orderkey, l_linenumber, l_shipdate, l_extendedprice
from {lineitem}
order by l_shipdate desc, l_orderkey, l_linenumber
limit 100
