import Foundation

@testable import RecollectWorkspace

extension VersionArchive {
    /// Records changes as made at the moment at which they began.
    func finish(_ changes: [VersionLine]) throws {
        try finish(changes, now: changes.first?.version.date ?? Date())
    }
}
