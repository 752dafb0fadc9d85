# Flows of a cluster that mines data.
# Source: Greenberg et al., VL2, SIGCOMM 2009, figure 2, in the points that the simulations of
# pFabric (SIGCOMM 2013) made usual. 80 % of the flows are below 10 kB; 2 % carry 87 % of the bytes.
0 0
180 0.1
216 0.2
560 0.3
900 0.4
1100 0.5
1870 0.6
3160 0.7
10kb 0.8
400kb 0.9
3160kb 0.95
100mb 0.98
1gb 1
