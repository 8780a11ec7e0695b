-- A look-up of a few keys.
select * from {orders} where o_orderkey in (1, 7, 34, 100, 1000, 12345, 60000)
