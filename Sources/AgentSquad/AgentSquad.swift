// The drop-in module: code written against the Agent Squad storage guides compiles with this import.

@_exported import Recollect
