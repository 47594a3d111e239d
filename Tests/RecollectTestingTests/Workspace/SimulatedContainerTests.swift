import Foundation
import RecollectCore
import RecollectTesting
import RecollectWorkspace
import Testing

@Suite("Simulated containers")
struct SimulatedContainerTests {
    @Test("A container returns only the folder of the account signed in")
    func accounts() throws {
        let (anna, bert) = (SimulatedCloud(seed: 1, account: "anna"), SimulatedCloud(seed: 1, account: "bert"))
        let device = anna.device("phone")
        let container = device.container
        let url = try #require(container.containerURL())
        #expect(container.accountToken() == Data("anna".utf8))
        #expect(try container.provider(at: url).rootURL == url)

        container.signIn(to: bert)
        #expect(container.accountToken() == Data("bert".utf8))
        #expect(container.containerURL() != url)
        #expect(throws: RecollectError.self) { try container.provider(at: url) }
        let other = try container.provider(at: try #require(container.containerURL()))
        try other.write([1], to: WorkspacePath("x.md"), replacing: nil)
        #expect(bert.device("phone").files().count == 1)
        #expect(device.files().isEmpty)

        container.signIn()
        #expect(container.containerURL() == url)
    }

    @Test("The folder is unavailable while signed out, and unsynced changes stay")
    func signOut() throws {
        let cloud = SimulatedCloud(seed: 2)
        let (a, b) = (cloud.device("a"), cloud.device("b"))
        let provider = a.provider
        a.edit("x.md", "x")
        a.container.signOut()
        #expect(a.container.accountToken() == nil)
        #expect(a.container.containerURL() == nil)
        let error = #expect(throws: RecollectError.self) { try provider.items(in: .root) }
        #expect(error?.code == .unavailable)
        try cloud.syncCompletely()
        #expect(b.files().isEmpty)
        a.container.signIn()
        try cloud.syncCompletely()
        #expect(b.files().count == 1)
        #expect(try provider.items(in: .root).count == 1)
    }

    @Test("A look-up may temporarily find no folder despite an account")
    func missing() throws {
        let container = SimulatedCloud(seed: 3).device("a").container
        container.isMissing = true
        #expect(container.containerURL() == nil)
        #expect(container.accountToken() != nil)
        container.isMissing = false
        #expect(container.containerURL() != nil)
        #expect(container.lookUps == 2)
    }

    @Test("A look-up blocks until the hold ends")
    func held() async throws {
        let container = SimulatedCloud(seed: 4).device("a").container
        container.isHeld = true
        let url = Task.detached {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: container.containerURL()) }
            }
        }
        #expect(container.accountToken() != nil)
        #expect(container.lookUps == 0)
        container.isHeld = false
        #expect(await url.value != nil)
    }

    @Test("Every listener is notified of a change of the account")
    func changes() async throws {
        let container = SimulatedCloud(seed: 5).device("a").container
        let listeners = [container.accountChanges(), container.accountChanges()]
        container.signOut()
        for changes in listeners {
            var iterator = changes.makeAsyncIterator()
            #expect(await iterator.next() != nil)
        }
    }
}
