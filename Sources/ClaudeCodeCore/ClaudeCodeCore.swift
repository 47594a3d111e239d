/// Code written against the custom session storage guide compiles with this module under the guide's own name; it is
/// Recollect, re-exported, with the names that only the guide uses.
@_exported import Recollect
