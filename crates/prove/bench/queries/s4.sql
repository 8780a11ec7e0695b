-- Predicates that can fail, and so may not run on rows that the filter hides.
select count(*) as n_lines, sum(l_quantity) as quantity
from {lineitem}
where cast(l_quantity as integer) % 7 = 3 and 100 / l_linenumber > 20
