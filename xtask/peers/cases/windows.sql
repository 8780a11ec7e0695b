-- Windows over visible rows and masked values.

-- case: row numbers
SELECT id, row_number() OVER (ORDER BY id) FROM customers ORDER BY id;

-- case: partitions
SELECT id, region, rank() OVER (PARTITION BY region ORDER BY amount DESC, id) FROM orders ORDER BY id;

-- case: ranks of masked values
SELECT id, rank() OVER (ORDER BY credit), dense_rank() OVER (ORDER BY credit) FROM customers ORDER BY id;

-- case: running sums
SELECT id, sum(amount) OVER (ORDER BY id) FROM orders ORDER BY id;

-- case: a frame of rows
SELECT id, sum(amount) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM orders ORDER BY id;

-- case: lag and lead
SELECT id, lag(id) OVER (ORDER BY id), lead(amount, 2, 0) OVER (ORDER BY id) FROM orders ORDER BY id;

-- case: first and last value
SELECT id, first_value(id) OVER (PARTITION BY customer ORDER BY id), last_value(id) OVER (PARTITION BY customer ORDER BY id
ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM orders ORDER BY id;

-- case: share of the whole
SELECT id, CAST(100 * amount / sum(amount) OVER () AS DECIMAL(10, 2)) FROM orders ORDER BY id;

-- case: a named window
SELECT id, count(*) OVER w, max(amount) OVER w FROM orders WINDOW w AS (PARTITION BY region) ORDER BY id;

-- case: the first of each group
SELECT id, customer FROM (SELECT id, customer, row_number() OVER (PARTITION BY customer ORDER BY amount DESC, id) AS n FROM orders) s
WHERE n = 1 ORDER BY id;

-- case: ntile
SELECT id, ntile(3) OVER (ORDER BY id) FROM customers ORDER BY id;

-- case: windows over groups
SELECT region, count(*), sum(count(*)) OVER (ORDER BY region) FROM orders GROUP BY region ORDER BY region;
