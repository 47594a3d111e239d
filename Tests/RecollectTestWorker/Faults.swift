import Foundation
import RecollectFaults

/// `faults OPTIONS…`: runs the explorers; see `FaultsCommand`.
func faults(_ arguments: [String]) async throws {
    exit(try await FaultsCommand(arguments).run() ? 0 : 1)
}

/// `explored NAME FOLDER`: one process of a scenario; see `HistoryWorkers`.
func explored(_ arguments: [String]) async {
    do {
        try await HistoryWorkers.run(arguments)
    } catch {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        exit(2)
    }
}
