"""Tables and figures of the paper, its replication, and our own studies: `python -m reproduction NAME`.

Every experiment is a module with two functions. `compute(...)` does the work and returns a document of plain values;
its keyword arguments are the options of the command. `report(document)` makes the tables, the sentences and the figure
of a document, so that stored documents can be shown again.
"""
