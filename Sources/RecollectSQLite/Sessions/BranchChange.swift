import Foundation
import RecollectCore

/// The messages moved by the cutting or restoring of a branch.
struct BranchChange: Sendable {
    /// The messages moved into a branch.
    let moved: Set<SequenceNumber>
    /// The messages moved back into the session.
    var restored: Set<SequenceNumber> = []
    /// The entry of a window from which the branch was cut. The window may show other messages behind it than the session
    /// has.
    var entry: UUID?
}
