/// Re-exports Recollect under the module name of the custom session storage guide, with the names used only by the
/// guide. Code written for the guide compiles with this module.
@_exported import Recollect
