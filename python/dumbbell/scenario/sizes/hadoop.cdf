# Flows of a Hadoop cluster at Facebook.
# Source: Roy et al., Inside the Social Network's (Datacenter) Network, SIGCOMM 2015, figure 6, read
# off by the authors of Homa (SIGCOMM 2018) for their simulations; every second or third point.
0 0
217 0.0149
300 0.052
326 0.1375
376 0.2026
480 0.2639
600 0.4591
737 0.552
885 0.5912
1413 0.6394
1664 0.6673
3396 0.684
7830 0.7082
31946 0.7212
39973 0.7398
47050 0.7788
51046 0.816
70722 0.8327
81565 0.8717
115331 0.8978
184284 0.9257
288520 0.9535
736642 0.9684
1769244 0.9814
10mb 1
