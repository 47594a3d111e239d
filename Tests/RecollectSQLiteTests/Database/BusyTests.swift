import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Errors about a process that holds the lock for too long.
@Suite("Busy database lock") struct BusyTests {
    @Test(
        "A busy timeout out of range is limited to the nearest supported duration",
        arguments: [.seconds(Int64.max), .milliseconds(Int(Int32.max) + 1), .milliseconds(-1), .seconds(Int64.min)]
            as [Duration])
    func farTimeouts(timeout: Duration) async throws {
        let folder = try TemporaryFolder()
        var configuration = HistoryConfiguration(busyTimeout: timeout)
        #expect(configuration.busyTimeout == (timeout < .zero ? .zero : .seconds(86_400)))
        configuration.busyTimeout = .milliseconds(5)
        #expect(configuration.busyTimeout == .milliseconds(5))
        configuration.busyTimeout = timeout
        let history = SQLiteHistoryStore(directory: folder.url, configuration: configuration)
        try await history.append(messages(0..<2), to: scope)
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<2))
    }

    #if os(Linux)
        @Test(
            "A save blocked by another process's lock throws `busy`, and the error names the process",
            .needs(.processes),
            arguments: [false, true])
        func stoppedHolder(isStopped: Bool) async throws {
            let folder = try TemporaryFolder()
            let history = SQLiteHistoryStore(
                directory: folder.url,
                configuration: HistoryConfiguration(indexesInBackground: false, busyTimeout: .milliseconds(200))
            )
            try await history.append(messages(0..<2), to: scope)
            let holder = try Worker(["lock", folder.url.path])
            #expect(await holder.wait(forLines: 1) == ["locked"])
            if isStopped { try holder.stop() }
            do {
                try await history.append(messages(2..<4), to: scope)
                Issue.record("a save succeeded while another process held the lock")
            } catch let error as RecollectError {
                #expect(error.code == .busy)
                #expect(error.message.contains("process \(holder.id)"), "\(error)")
                #expect(error.message.contains("stopped") == isStopped, "\(error)")
            }
            #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<2))
            holder.kill()
            _ = await holder.finish()
            try await history.append(messages(2..<4), to: scope)
            #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<4))
        }

        @Test("Searching for a lock's holder is safe while the lock is acquired and released")
        func fleetingHolder() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("lock").path
            let file = try LockFile(path: path)
            DispatchQueue.concurrentPerform(iterations: 2) { number in
                for _ in 0..<500 {
                    guard number == 0 else {
                        _ = LockHolder(of: path)
                        continue
                    }
                    _ = try? file.tryLock()
                    usleep(300)
                    file.unlock()
                    usleep(300)
                }
            }
        }
    #endif
}
