import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@Suite("Store events") struct StoreEventsTests {
    @Test("Routine events are logged as info, and events that need attention as warnings")
    func levels() {
        let log = LogLines()
        let events = StoreEvents(logger: log.logger)
        for kind in [StoreEvent.Kind.resolvedConflict, .externalEdit, .droppedSameRole, .massDeletion, .salvaged] {
            events.post(StoreEvent(kind: kind))
        }
        events.post(StoreEvent(kind: .externalEdit, failure: RecollectError(.unreadable, "it is no chat")))
        #expect(
            log.all.map { $0.split(separator: " ").prefix(2).joined(separator: " ") } == [
                "info resolvedConflict", "info externalEdit", "info droppedSameRole", "warning massDeletion",
                "warning salvaged", "warning externalEdit",
            ])
    }

    @Test("The log omits the name of a file set aside, because the name contains the agent's ID")
    func setAside() async throws {
        let log = LogLines()
        let folder = try TemporaryFolder()
        try folder.write(Array("[{".utf8), agent: "canary")
        let store = FileChatStorage(baseURL: folder.url, logger: log.logger)
        #expect(try await store.load(agent: "canary").isEmpty)
        let line = try #require(log.all.first { $0.contains(" salvaged ") })
        #expect(line.contains("setAside=") && !line.contains("canary"), "\(line)")
        let event = await store.events.stream().first { _ in true }
        #expect(event?.setAsideURL?.lastPathComponent.contains("canary") == true)
    }
}
