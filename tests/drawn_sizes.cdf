# Sizes of transfers: half of them below 10 kB, the largest a megabyte.
1kb 0.1
10kb 0.5
100kb 0.95
1mb 1
