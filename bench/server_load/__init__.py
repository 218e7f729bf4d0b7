"""One server under many sessions and many sockets: how long does an answer take, what is it made of?

`python -m bench.server_load` starts a real `fairlead serve`. Everything around it runs in other
processes: the agents (`choir`), the clients that only look (`crowd`), and the ones that act and
hold the watch (`people`, in the benchmark's own process).
"""
