import Foundation
import RecollectCore
import Testing

@Suite("Errors") struct RecollectErrorTests {
    @Test("`localizedDescription` contains the problem and the remedy")
    func localizedDescription() {
        let error: any Error = RecollectError(.diskFull, "the disk is full; make room and save again")
        #expect(error.localizedDescription == "the disk is full; make room and save again")
    }
}
