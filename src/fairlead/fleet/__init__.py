"""Many machines as one: nodes run sessions, gateways serve browsers, and a bus connects them.

A session runs where its folder and its CLI are. Its *node* stores every event first, in its own
SQLite database, exactly as `fairlead serve` does; the rest of the fleet has copies. A *gateway*
serves browsers and runs no CLI: it is one more client of each node, and mirrors the documents that
its own clients follow. The *bus* between them may lose, repeat and reorder messages: sequence numbers
detect it, and the node's ring or log repairs it.

Packages, lowest first: `protocol/` names subjects and defines messages (pure); `bus/` carries bytes
between machines; `node/` speaks for the sessions of one machine; `gateway/` mirrors them for clients.
"""
