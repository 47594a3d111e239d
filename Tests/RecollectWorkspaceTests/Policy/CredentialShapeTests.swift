import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("Credential shapes")
struct CredentialShapeTests {
    @Test("Keys of services are found in any surrounding text")
    func keysOfServices() async {
        await Seeds.run(8) { seed in
            var invented = SampleData(random: SeededGenerator(seed: seed))
            let keys = [
                "sk-" + invented.key(48), "sk-" + invented.key(32, SampleData.hexadecimal),
                "sk-proj-" + invented.key(124, SampleData.url),
                "sk-ant-api03-" + invented.key(93, SampleData.url) + "AA",
                "ghp_" + invented.key(36), "gho_" + invented.key(36), "ghs_" + invented.key(36),
                "github_pat_" + invented.key(22) + "_" + invented.key(59), "glpat-" + invented.key(20),
                "AKIA" + invented.key(16, SampleData.upper), "ASIA" + invented.key(16, SampleData.upper),
                "xoxb-2718281828459-3141592653589-" + invented.key(24), "xoxp-2718281828459-" + invented.key(32),
                "AIza" + invented.key(35, SampleData.url), "hf_" + invented.key(34), "npm_" + invented.key(36),
                "AGE-SECRET-KEY-1" + invented.key(58, SampleData.upper), "dckr_pat_" + invented.key(27, SampleData.url),
                "xapp-1-A0271828182-3141592653589-" + invented.key(64, SampleData.lower),
                "ya29." + invented.key(160, SampleData.url),
                "SG." + invented.key(22, SampleData.url) + "." + invented.key(43, SampleData.url),
                "sk_test_" + invented.key(24),
                "rk_test_" + invented.key(24),
                "sk_live_" + invented.key(24), invented.signedToken(), invented.privateKey("PRIVATE KEY"),
                invented.privateKey("RSA PRIVATE KEY"), invented.privateKey("OPENSSH PRIVATE KEY"),
                invented.privateKey("PGP PRIVATE KEY BLOCK"),
                "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,9F\n\n"
                    + invented.key(64, SampleData.base64) + "\n",
                "{\"private_key\": \"-----BEGIN PRIVATE KEY-----\\n" + invented.key(64, SampleData.base64) + "\\n\"}",
            ]
            for key in keys {
                for text in [
                    key, "# Notes\n\nUse \(key) for it.", "key=\(key)", "`\(key)`", "(\(key))", "\"\(key)\",",
                    "- \(key)\r\n",
                    "https://host.example/?k=\(key)&x=1", "ключ: \(key)", "🔑\(key)", "<\(key)>",
                ] {
                    #expect(CredentialShape.found(in: text) != nil, "\(text)")
                }
            }
        }
    }

    @Test("Values assigned to credential names are found in any syntax")
    func assignments() async {
        await Seeds.run(8) { seed in
            var invented = SampleData(random: SeededGenerator(seed: seed))
            let password = invented.key(14)
            let key = invented.key(40, SampleData.lower)
            let texts = [
                "password = \(password)", "password=\(password)", "PASSWORD=\(password)", "password: \(password)",
                "Password: \(password).", "**Password:** \(password)", "- Password : `\(password)`",
                "passwd=\(password);",
                "{\\\"password\\\": \\\"\(password)\\\"}", "\"text\":\"my password: \\\"\(password)\\\"\"",
                "\"password\": \"\(password)\",", "'password' => '\(password)'", "let password = \"\(password)\"",
                "let password: String = \"\(password)\"", "db_password: '\(password)'", "DB_PASSWORD='\(password)'",
                "  dbPassword := \"\(password)\"", "The Wi-Fi password: \(password)", "pwd=\(password)",
                "Passwort: \(password)", "Kennwort: \(password)", "password：\(password)",
                "mot de passe : \(password)", "Mot de passe\u{A0}: \(password)", "Mot de passe\u{202F}: \(password)",
                "mot_de_passe=\(password)", "contraseña: \(password)", "CONTRASEÑA: \(password)",
                "contrasen\u{303}a: \(password)", "Senha: \(password)", "wachtwoord: \(password)", "hasło: \(password)",
                "Пароль: \(password)", "密码：\(password)", "wifi 密码: \(password)", "パスワード：\(password)",
                "비밀번호: \(password)",
                "if password == \"\(password)\" {", "my pass phrase is in passphrase=\(password)",
                "Server=db;User Id=sa;Password=\(password);Encrypt=true", "password: \"Sommer!Wiese&Heu\"",
                "PASSWORD=monkey123", "password: \"p4ss(w0rd)zq\"",
                "api_key: \"\(key)\"", "apiKey = '\(key)'", "API key: \(key)", "API-KEY=\(key)", "x-api-key: \(key)",
                "OPENAI_API_KEY=\(key)", "export API_KEY_2=\"\(key)\"", "client_secret: \(key)",
                "\"clientSecret\":\"\(key)\"",
                "secret = \"\(key)\"", "aws_secret_access_key = \(key)", "AccountKey=\(key)==;", "access_token=\(key)",
                "\"refreshToken\": \"\(key)\"", "bot_token: \(key)", "token = \"\(key)\"", "\"token\": \"\(key)\"",
                "token=\(key)",
                "Authorization: Bearer \(key)", "-H \"Authorization: Bearer \(key)\"", "authorization: bearer \(key)",
                "{\"Authorization\": \"Bearer \(key)\"}", "Authorization: Basic \(invented.key(24))==",
                "Authorization: Token \(key)",
                "postgres://ada:\(password)@db.example.org:5432/app",
                "mongodb+srv://ada:\(password)@cluster0.mongodb.net",
                "redis://:\(password)@cache:6379", "https://ada:\(password)@git.example.org/x.git",
                "DATABASE_URL=mysql://r:\(password)@h/d",
                "https://hooks.slack.com/services/T02ABCDEF/B03GHIJKL/\(invented.key(24))",
                "https://discord.com/api/webhooks/1271828182845904523/\(invented.key(68, SampleData.url))",
                "machine example.org login ada password \(password)",
                "machine example.org\nlogin ada\npassword \(password)",
                "machine h account x login ada password \(password)",
                "curl -u ada:\(password) https://x.org", "curl --user \"ada:\(password)\" https://x.org",
                "| Site | User | Password |\n|---|---|---|\n| mail | ada | \(password) |",
                "Site | **Password**\n:-- | --:\nweb | none yet\nmail | `\(password)`",
                "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: x\nPrivate-Lines: 1\n"
                    + invented.key(48, SampleData.base64) + "\nPrivate-MAC: 7d9f8c2b1a0e",
            ]
            for text in texts {
                #expect(CredentialShape.found(in: text) != nil, "\(text)")
                #expect(CredentialShape.found(in: "\u{FEFF}before\n\n" + text + "\n\nafter") != nil, "\(text)")
            }
        }
    }

    @Test("Prose, samples, code, hashes and ids are not refused")
    func harmless() {
        let texts = [
            // Prose
            "", "\n", "=", ":", "://", "-----", "password", "password:", "password: ", "password =", "secret: =",
            "token:",
            "The password is in the Keychain.", "Password: see the safe in room 12.",
            "| Site | Password |\n|---|---|\n| mail | in the Keychain |\n| web | see room 12 |", "| Password |\n|---|",
            "| Flag | Default |\n|---|---|\n| password | 4kd83hf72ks9 |", "--- | ---", "password\n---\nab12cd34ef56",
            "The machine has a login and a password field.", "machine learning login password policies2",
            "docker run -u 1000:1000 image", "curl -u user:password https://x.org",
            "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX", "Private-Lines: 8\n",
            "Passwords: never write them down!", "Le mot de passe : voir le coffre.", "Resenha: Abc123defgh45",
            "Contraseña: al menos 12 caracteres", "密码：见保险箱", "パスワード：必須",
            "password: required", "Password: at least 12 characters, 1 digit", "Secret: the soup has ginger in it.",
            "API key: ask Ada for it (2025).", "The secret: practice makes perfect.", "password: changed 2025-01-15",
            "Password: 2025-01-15T09:30", "Token: a unit of text, about 4 letters", "tokens: 128000",
            "max_tokens = 4096",
            "token limit: 200000", "tokens used: 12345678", "A JWT begins with eyJ and has three parts.",
            "OpenAI keys begin with sk-, GitHub's with ghp_ and AWS's with AKIA.", "pin: 12345678",
            "pwd: /home/ada/work8",
            "risk-assessment-of-the-quarter-2025-report", "task-management-with-many-longer-words-2024",
            "Ask-me-anything-thread-2025-01-15-part-2", "sk-folding-cube sk-folding-cube-9-child-container-2",
            "Basic authorization: Bearer tokens are sent in a header.", "Authorization: Bearer", "Authorization: yes",
            "Author: Ada Lovelace; Role: admin", "Ratio 16:9, at 12:30:45", "key: value", "keyboard: qwerty123layout",
            // Placeholders
            "api_key = YOUR_API_KEY", "API_KEY=your-api-key-here1", "apiKey: \"<your key 1>\"", "api_key: <token123>",
            "OPENAI_API_KEY=sk-...", "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx1", "sk-ant-…", "sk-ant-api03-...",
            "sk-your-key-goes-here-0123456789ab", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "ghp_abc123...",
            "AKIAIOSFODNN7EXAMPLE", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "password: \"changeme123\"", "password = \"password123\"", "password: ********", "password: \"abc12345\"",
            "password: 12345678", "password=\"aaaaaaa1\"", "password: xxxxxxx1", "secret: \"REDACTED-1234\"",
            "token=\"abcd1234\"",
            "Authorization: Bearer <token>", "Authorization: Bearer YOUR_TOKEN_1", "Authorization: Bearer ${TOKEN_V2}",
            "Authorization: Bearer $ACCESS_TOKEN_1", "Authorization: Basic dXNl...",
            "-H 'Authorization: Bearer xxxxxxxxxxx1'",
            "postgres://user:password@localhost/db", "postgres://user:pass@host",
            "postgres://<user>:<password1>@host/db",
            "https://ada@example.org:8443/x", "http://localhost:8080/a@b", "ssh://git@host:22/x",
            "file:///a:b1c2d3e4@c",
            "mailto:ada@example.org", "postgres://user:${DB_PASSWORD1}@host/db",
            "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----", "-----BEGIN PUBLIC KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE…\n",
            "-----BEGIN CERTIFICATE-----\n" + String(repeating: "MIIB9Qa7", count: 40),
            // Code
            "let password = readPassword1()", "password = os.environ[\"DB_PASS1\"]", "apiKey: process.env.API_KEY_V2",
            "apiKey = config.apiKey2", "password: $DB_PASSWORD1", "password: ${{ secrets.DB_PASS_1 }}",
            "password = userPassword",
            "password: String", "let password: String?", "password: str = None",
            "func login(password: String, token: Token2)",
            "token = lexer.next2()", "token = next.token2", "var secret = try Keychain.read(\"db1\")",
            "password = input2",
            "password={password1}", "password=%(password1)s", "token: 'next_page_token_9'",
            "case .token: parseToken2()",
            "private_key: /etc/ssl/private/host1.pem", "privateKey: ~/.ssh/id_ed25519",
            "secret_key: https://vault.example/1a2b3c4d",
            "\"encryptionKey\": \"arn:aws:kms:us-west-2:123456789012:alias/aws/s3\"",
            "passwordHash: $2b$12$KIXQ8Zq3n1vY5s7u9w1y3e", "password_sha1 = 5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8",
            "nextPageToken: \"CAUQAA9xz81kqLw\"", "csrf_token = \"9f86d081884c7d65\"", "page-token=9f86d081884c7d65",
            "token: CAUQAA9xz81kqLw",
            // Hashes, ids, data
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "commit 1f7a7a472abf3dd9643fd615f6da379c4acb3e3a",
            "id: 550e8400-e29b-41d4-a716-446655440000",
            "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "sha512-QlTJ8Yw0yqE7e3DqVxRzQm8vK1Xw0P6n9Qz2m5b8s7d4f3g2h1j0k9l8",
            "etag: \"33a64df551425fcc55e4d42a148795d9f25f89d4\"",
            "checksum=md5:d41d8cd98f00b204e9800998ecf8427e", "key_id = 9f86d081884c7d65",
            "public_key: ssh-ed25519 AAAAC3Nz9",
            "![](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==)",
        ]
        for text in texts {
            let found = CredentialShape.found(in: text)
            #expect(found == nil, "\(text): \(found?.name ?? "")")
        }
    }

    @Test("Random base64 data, hashes and ids are not refused")
    func randomData() async {
        await Seeds.run(8) { seed in
            var invented = SampleData(random: SeededGenerator(seed: seed))
            let image = String(
                (0..<50_000).map { _ in SampleData.base64.randomElement(using: &invented.random) ?? "A" })
            let hashes = (0..<1_000).map { _ in invented.key(64, SampleData.hexadecimal) }.joined(separator: "\n")
            let ids = (0..<1_000).map { _ in invented.uuid() }.joined(separator: "\nid: ")
            for text in ["![](data:image/png;base64,\(image)==)", hashes, ids] {
                #expect(CredentialShape.found(in: text)?.name == nil)
            }
        }
    }

    @Test("The search always ends on texts of random pieces")
    func fuzz() async {
        await Seeds.run(6) { seed in
            var random = SeededGenerator(seed: seed)
            let pieces = [
                "password", "=", ":", "://", "@", "\"", "'", "`", " ", "\n", "sk-", "ghp_", "AKIA", "eyJ", ".",
                "-----BEGIN ",
                "PRIVATE KEY", "Authorization", "Bearer ", "é", "日本", "🔑", "\0", "x9Kq", "token", "_", "-", "*", "…",
                "AIza",
            ]
            for _ in 0..<300 {
                let text = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    pieces.randomElement(using: &random) ?? ""
                }.joined()
                _ = CredentialShape.found(in: text)
            }
        }
    }

    @Test("The reason names the kind, the line and a safer location, without any of the text")
    func reason() throws {
        var invented = SampleData(random: SeededGenerator(seed: 1))
        let key = invented.key(36)
        let kind = try #require(CredentialShape.found(in: "one\ntwo\r\nthree ghp_\(key)"))
        #expect((kind.name, kind.line) == ("a GitHub token", 3))
        #expect(kind.reason.contains("line 3 looks like a GitHub token") && !kind.reason.contains(key))
        #if canImport(Darwin)
            #expect(kind.reason.contains("Keychain"))
        #else
            #expect(kind.reason.contains("environment"))
        #endif
        let error = try #require(throws: RecollectError.self) {
            try CredentialShape.refuse("password = \(key)", at: WorkspacePath("context.md"))
        }
        #expect(error.code == .credential && error.message.contains("context.md") && !"\(error)".contains(key))
    }

    @Test("An existing credential does not block additions, and a second one is refused with its line number")
    func known() throws {
        var invented = SampleData(random: SeededGenerator(seed: 2))
        let (path, theirs) = (try WorkspacePath("context.md"), "# Known\npassword = \(invented.key(20))\n")
        let block = "-----BEGIN PRIVATE KEY-----\n\(invented.key(64))\n-----END PRIVATE KEY-----\n"
        for old in [theirs, block, theirs + block] {
            for text in [old, old + "- ships\n", "- ships\n" + old, "- ships\n"] {
                try CredentialShape.refuse(text, replacing: old, at: path)
            }
            let second = try #require(throws: RecollectError.self) {
                try CredentialShape.refuse(
                    old + "- ships\napi_key = \(invented.key(24))\n", replacing: old, at: path)
            }
            let line = old.count { $0 == "\n" } + 2
            #expect(second.code == .credential && second.message.contains("line \(line) "), "\(second)")
        }
    }

    @Test("20 MB are searched in one pass, even if every byte may begin a credential")
    func large() {
        let size = 20_000_000
        #expect(
            CredentialShape.found(in: String(repeating: "A line of prose, as they are.\n", count: size / 30)) == nil)
        for piece in [
            "=", "password=", "password:\n", "token: ", "://a:", "sk-", "eyJ", "-----BEGIN PRIVATE KEY-----",
            "\"apikey\":\"",
        ] {
            #expect(
                CredentialShape.found(in: String(repeating: piece, count: 200_000 / piece.utf8.count)) == nil,
                "\(piece)")
        }
    }
}
