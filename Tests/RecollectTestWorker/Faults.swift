import Foundation
import RecollectFaults

/// `faults OPTIONS…`: runs the explorers; see `FaultsCommand`.
func faults(_ arguments: [String]) async throws {
    exit(try await FaultsCommand(arguments).run() ? 0 : 1)
}
