# Flows of a web search's cluster: queries, updates and background transfers.
# Source: Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010, figure 4, in the points that the
# simulations of pFabric (SIGCOMM 2013) made usual. 30 % of the flows carry 95 % of the bytes.
0 0
10kb 0.15
20kb 0.2
30kb 0.3
50kb 0.4
80kb 0.53
200kb 0.6
1mb 0.7
2mb 0.8
5mb 0.9
10mb 0.97
30mb 1
