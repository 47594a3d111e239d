/// Re-exports Recollect under the module name of the Agent Squad storage guides. Code written for the guides compiles with
/// this module.
@_exported import Recollect
