import Foundation
import RecollectCore
import Testing

/// A requirement of a test beyond memory and a temporary folder: processes, disks, programs, or time.
///
/// `.needs(.strace)` skips a test on a machine without `strace`. `make quick` sets `RECOLLECT_QUICK`, which skips every
/// test with a need. Tags would do the same, but SwiftPM 6.3 cannot skip tests by tag.
package struct Need: Sendable {
    private let name: String
    private let isMet: @Sendable () -> Bool

    package init(_ name: String, isMet: @escaping @Sendable () -> Bool = { true }) {
        self.name = name
        self.isMet = isMet
    }

    /// Seconds of CPU time.
    package static let time = Need("time")
    /// Child processes.
    package static let processes = Need("processes")
    /// Processes traced by `strace`.
    package static let strace = Need("strace, and the right to trace") { RecollectTestSupport.strace != nil }
    /// A `TinyDisk`.
    package static let tinyDisk = Need("root and mount") { TinyDisk.isPossible }
    /// A `CuttableDisk`.
    package static let cuttableDisk = Need("root, mount, loop devices and mkfs.ext4") { CuttableDisk.isPossible }
    /// A `BindMount`.
    package static let bindMount = Need("root and bind mounts") { BindMount.isPossible }

    /// Whether this run is `make quick`.
    package static let isNoneMet = ProcessInfo.processInfo.environment["RECOLLECT_QUICK"] != nil

    /// Throws in `make quick`, so that a test that does not declare its need fails there.
    package static func requireMet(_ declaration: String) throws {
        guard isNoneMet else { return }
        throw RecollectError(.invalidArgument, "declare \(declaration) on this test: `make quick` leaves it out")
    }

    fileprivate var trait: ConditionTrait {
        Self.isNoneMet ? .disabled("not in `make quick`: needs \(name)") : .enabled(if: isMet(), "needs \(name)")
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test or suite where a need is not met, and in `make quick`.
    package static func needs(_ need: Need) -> Self { need.trait }
}
