import Foundation
import RecollectFileSystem
import Testing

@Suite("Random UUIDs") struct RandomUUIDTests {
    @Test("They are of version 4, and all other bits are random")
    func bits() {
        let all = (0..<1000).map { _ in UUID.random().uuid }
        for byte in 0..<16 {
            let values = all.map { uuid in withUnsafeBytes(of: uuid) { $0[byte] } }
            let (ones, zeros) = (values.reduce(0, |), ~values.reduce(0xFF, &))
            switch byte {
            case 6: #expect(values.allSatisfy { $0 >> 4 == 4 } && ones & 0xF == 0xF && zeros & 0xF == 0xF)
            case 8: #expect(values.allSatisfy { $0 >> 6 == 2 } && ones & 0x3F == 0x3F && zeros & 0x3F == 0x3F)
            default: #expect(ones == 0xFF && zeros == 0xFF)
            }
        }
    }
}
