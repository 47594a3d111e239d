import Dispatch
import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

@Suite("Item states in iCloud")
struct CloudItemStateTests {
    @Test(
        "A file's state is the more cautious of the file system's and iCloud's",
        arguments: [
            // listed, iCloud status, downloading, unresolved versions, expected state
            ("local", nil, false, false, "local"),
            ("local", "NSURLUbiquitousItemDownloadingStatusCurrent", false, false, "local"),
            ("local", "NSURLUbiquitousItemDownloadingStatusDownloaded", true, false, "local"),
            ("local", "NSURLUbiquitousItemDownloadingStatusCurrent", false, true, "conflicted"),
            ("local", "NSURLUbiquitousItemDownloadingStatusNotDownloaded", false, false, "notLocal"),
            ("local", "NSURLUbiquitousItemDownloadingStatusNotDownloaded", true, true, "downloading"),
            ("notLocal", "NSURLUbiquitousItemDownloadingStatusCurrent", false, false, "notLocal"),
            ("notLocal", nil, true, false, "downloading"), ("notLocal", nil, false, true, "notLocal"),
            ("local", "a word of a newer system", false, false, "local"),
            ("conflicted", nil, false, false, "conflicted"),
        ] as [(String, String?, Bool, Bool, String)])
    func states(listed: String, status: String?, isDownloading: Bool, hasVersions: Bool, state: String) {
        let cloud = CloudItemState(status: status, isDownloading: isDownloading, hasUnresolvedVersions: hasVersions)
        #expect(cloud.state(of: FileState(rawValue: listed)).rawValue == state)
    }

    @Test("A file that is not uploaded yet is waiting, over quota or failed, depending on the upload error")
    func uploads() {
        func upload(_ isUploaded: Bool?, _ error: CocoaError.Code? = nil) -> UploadState? {
            CloudItemState(
                status: nil, isDownloading: false, hasUnresolvedVersions: false, isUploaded: isUploaded,
                uploadError: error.map { CocoaError($0) }
            ).upload
        }
        #expect(upload(nil) == nil && upload(nil, .ubiquitousFileNotUploadedDueToQuota) == nil)
        #expect(upload(true) == .uploaded && upload(true, .ubiquitousFileNotUploadedDueToQuota) == .uploaded)
        #expect(upload(false) == .waiting)
        #expect(upload(false, .ubiquitousFileNotUploadedDueToQuota) == .overQuota)
        #expect(upload(false, .ubiquitousFileUbiquityServerNotAvailable) == .failed)
    }
}

@Suite("Work with a time limit")
struct BoundedTurnTests {
    private struct Refused: Error {}

    @Test("An operation that ends within the time limit returns its result or throws its error, once")
    func inTime() throws {
        let turn = CancellableWork<Int>()
        turn.run { 1 }
        turn.run { 2 }
        #expect(try turn.result(within: .seconds(60)) == 1)
        let failing = CancellableWork<Int>()
        failing.run { throw Refused() }
        #expect(throws: Refused.self) { try failing.result(within: .seconds(60)) }
    }

    @Test("An operation that did not start within the time limit never runs")
    func tooLate() throws {
        let turn = CancellableWork<Int>()
        #expect(try turn.result(within: .milliseconds(1)) == nil)
        let ran = Locked(false)
        turn.run {
            ran.withLock { $0 = true }
            return 1
        }
        #expect(!ran.withLock { $0 })
    }

    @Test("An operation that has started is awaited beyond the time limit")
    func begun() throws {
        let turn = CancellableWork<Int>()
        let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            turn.run {
                begun.signal()
                mayEnd.wait()
                return 7
            }
        }
        begun.wait()
        let waiter = Locked<Int?>(nil)
        let waited = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let result = try? turn.result(within: .milliseconds(1))
            waiter.withLock { $0 = result ?? nil }
            waited.signal()
        }
        // The time limit of one millisecond passes before this timeout does.
        #expect(waited.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
        mayEnd.signal()
        waited.wait()
        #expect(waiter.withLock { $0 } == 7)
    }
}
