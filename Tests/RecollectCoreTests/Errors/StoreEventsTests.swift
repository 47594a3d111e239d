import RecollectCore
import RecollectTestSupport
import Testing

@Suite("Events of stores") struct StoreEventsTests {
    @Test("what stores do all the time is no warning in the log, what somebody should look at is one")
    func levels() {
        let log = LogLines()
        let events = StoreEvents(logger: log.logger)
        for kind in [StoreEvent.Kind.foldedConflict, .handEdited, .droppedSameRole, .vanished, .salvaged] {
            events.post(StoreEvent(kind: kind))
        }
        events.post(StoreEvent(kind: .handEdited, failure: RecollectError(.unreadable, "it is no chat")))
        #expect(
            log.all.map { $0.split(separator: " ").prefix(2).joined(separator: " ") } == [
                "info foldedConflict", "info handEdited", "info droppedSameRole", "warning vanished",
                "warning salvaged", "warning handEdited",
            ])
    }
}
