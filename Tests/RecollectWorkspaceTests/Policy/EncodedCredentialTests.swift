import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("Credentials in base64 and below their names") struct EncodedCredentialTests {
    private func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    /// A string in indented lines of a given width.
    private func lines(_ text: String, of width: Int = 76, behind indentation: String = "") -> String {
        let text = Array(text)
        return stride(from: 0, to: text.count, by: width).map {
            indentation + String(text[$0..<min($0 + width, text.count)])
        }.joined(separator: "\n")
    }

    @Test("Base64 text that contains a credential is found, in one line or in several")
    func encoded() async {
        await Seeds.run(6) { seed in
            var invented = SampleData(random: SeededGenerator(seed: seed))
            let texts = [
                "sk-" + invented.key(48), "sk-ant-api03-" + invented.key(93, SampleData.url),
                "ghp_" + invented.key(36) + "\n",
                "AKIA" + invented.key(16, SampleData.upper), invented.signedToken(),
                invented.privateKey("RSA PRIVATE KEY"),
                "HOST=db1\nDB_PASSWORD=\(invented.key(14))\n", "{\"user\":\"ada\",\"api_key\":\"\(invented.key(40))\"}",
                String(repeating: "# Many words, and then\n", count: 20) + "password: \(invented.key(14))\n",
            ]
            for text in texts {
                let whole = base64(text)
                for written in [
                    whole, "data:\n  key: \(whole)\n", "`\(whole)`", "key=\(whole)", "\"\(whole)\",",
                    lines(whole) + "\n",
                    "key: |\n" + lines(whole, behind: "    ") + "\nnext: 1\n",
                    lines(whole).replacing("\n", with: "\r\n"),
                    "before\n" + lines(whole, of: 64) + "\nafter this\n",
                ] {
                    let found = CredentialShape.found(in: written)
                    #expect(found != nil, "\(text) as \(written)")
                }
            }
            let kind = CredentialShape.found(in: "one\n\n" + base64("ghp_" + invented.key(36)))
            #expect(kind?.name == "a GitHub token in base64" && kind?.line == 3)
        }
    }

    @Test("Private keys are found without a header line, but not certificates, public keys and signatures")
    func bodies() {
        var invented = SampleData(random: SeededGenerator(seed: 1))
        func body(_ beginning: [UInt8]) -> String {
            lines(
                Data(beginning + (0..<200).map { _ in UInt8.random(in: 0...255, using: &invented.random) })
                    .base64EncodedString(), of: 64)
        }
        let privateKeys: [[UInt8]] = [
            [0x30, 0x82, 0x04, 0xA4, 0x02, 0x01, 0x00, 0x02, 0x82, 0x01, 0x01, 0x00],  // PKCS #1
            [0x30, 0x82, 0x04, 0xBD, 0x02, 0x01, 0x00, 0x30, 0x0D, 0x06, 0x09],  // PKCS #8, RSA
            [0x30, 0x81, 0x87, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07],  // PKCS #8, elliptic curves
            [0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70],  // PKCS #8, Ed25519
            [0x30, 0x77, 0x02, 0x01, 0x01, 0x04, 0x20],  // SEC 1
            Array("openssh-key-v1\0".utf8),
        ]
        for key in privateKeys {
            for text in [body(key), "The key:\n\n" + body(key) + "\n", "\"\(body(key))\""] {
                #expect(CredentialShape.found(in: text)?.name == "a private key", "\(text)")
            }
        }
        let others: [[UInt8]] = [
            [0x30, 0x82, 0x03, 0x05, 0x30, 0x82, 0x01, 0xED, 0xA0, 0x03, 0x02, 0x01, 0x02],  // a certificate
            [0x30, 0x82, 0x01, 0x22, 0x30, 0x0D, 0x06, 0x09],  // a public key
            [0x30, 0x82, 0x01, 0x0A, 0x02, 0x82, 0x01, 0x01, 0x00],  // a public key, PKCS #1
            [0x30, 0x45, 0x02, 0x21, 0x00],  // a signature
            [0x30, 0x82, 0x09, 0x00, 0x02, 0x01, 0x03],  // PKCS #12, which has a password
        ]
        for other in others {
            #expect(CredentialShape.found(in: body(other)) == nil, "\(body(other))")
        }
    }

    @Test("Values on a line below their names are found")
    func below() async {
        await Seeds.run(6) { seed in
            var invented = SampleData(random: SeededGenerator(seed: seed))
            let (password, key) = (invented.key(14), invented.key(40, SampleData.lower))
            for text in [
                "password: |\n  \(password)\n", "password: >-\r\n    \(password)\r\n",
                "api_key: |+\n  \(key)\nnext: 1\n",
                "API key:\n\(key)", "API key:\n\n    \(key)\n", "**Password:**\n\n```\n\(password)\n```\n",
                "secret key:\n```text\n\(key)\n```", "- API key:\n  - \(key)\n", "> API key:\n> \(key)\n",
                "let secret = \"\"\"\n    \(key)\n    \"\"\"", "export PASSWORD=\\\n  \(password)\n",
                "\"password\":\n    \"\(password)\",\n",
            ] {
                #expect(CredentialShape.found(in: "# Notes\n\n" + text) != nil, "\(text)")
            }
        }
    }

    @Test("Harmless base64 data, and text below a name that is not its value, are not refused")
    func harmless() {
        let prose = "The password is in the Keychain, and the API key is with Ada. api_key = YOUR_API_KEY\n"
        let texts = [
            base64(prose), lines(base64(String(repeating: prose, count: 20))),
            base64("{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":\"a1b2c3d4e5\"}"),
            base64("sk-your-key-goes-here-0123456789ab"), base64("{\"password\":\"<your password 1>\"}"),
            "applicationDidFinishLaunchingWithOptions", "Sources/RecollectWorkspace/Workspace/SharedWorkspace",
            "Password:\nsee the safe in room 12", "password:\n  minLength: 12\n", "secret:\n  name: database1\n",
            "API key:\n\nask Ada for it", "password: |\n  at least 12 characters\n",
            "secret key:\n```\n$SECRET_KEY_1\n```",
            "password:\n  type: string\n", "API key:\nconfig.key2\n", "password:\n\n## 2025-01-15T09:30\n",
            "access key:\nCmd+Shift+4\n", "password: |\n", "password:", "password:\n", "password: |\n\n\n\n\n\n",
            "api_key: |\n  YOUR_API_KEY_1\n", "password:\n- Wiese\n", "Authorization:\n", "password: \"\"\"\n",
            "PASSWORD=\nDATABASE_NAME=app_prod_2\n", "password:\nhost:a1b2c3d4e5f6g7h8\n",
            "secret: \"\"\nkq7vz3nb8xw2mt5r\n",
            "case password:\n    return field2.isValid()\n", "private key:\n/etc/ssl/private/host1.pem\n",
        ]
        for text in texts {
            let found = CredentialShape.found(in: text)
            #expect(found == nil, "\(text): \(found?.name ?? "")")
        }
    }

    @Test("Base64 text that decodes to a very long text is searched once", arguments: [57, 0])
    func large(width: Int) {
        let whole = base64(String(repeating: "A line of prose, as they are.\n", count: 50_000))
        #expect(CredentialShape.found(in: width == 0 ? whole : lines(whole, of: width)) == nil)
    }
}
