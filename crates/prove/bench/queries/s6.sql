-- Nothing but the number of rows.
select count(*) as n_lines from {lineitem}
