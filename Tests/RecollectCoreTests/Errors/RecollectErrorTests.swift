import Foundation
import RecollectCore
import Testing

@Suite("Errors") struct RecollectErrorTests {
    @Test("an alert that shows an error's localised description shows what happened and what to do")
    func localizedDescription() {
        let error: any Error = RecollectError(.diskFull, "the disk is full; make room and save again")
        #expect(error.localizedDescription == "the disk is full; make room and save again")
    }
}
