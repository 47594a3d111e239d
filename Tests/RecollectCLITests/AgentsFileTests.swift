#if CommandLine
    import Foundation
    import RecollectCore
    import Testing

    @testable import RecollectCLI

    @Suite("Agents files")
    struct AgentsFileTests {
        private static let good = """
            classifier: model
            model: big
            base_url: http://127.0.0.1:1/v1
            api_key_env: KEY
            history_tokens: 50000
            agents:
              - name: Navigator
                description: Plans routes.
                prompt: |
                  Be calm.
                tools: [search_history, take_note]
              - name: Cook
                description: Cooks.
                model: small
                base_url: https://other.example/v1
              - kind: scribe
            """

        @Test("A YAML file defines agents, with defaults for all of them")
        func yaml() throws {
            let file = try AgentsFile(Self.good, path: "a.yaml")
            #expect(file.routing == .model)
            let server = URL(string: "http://127.0.0.1:1/v1")
            #expect(file.model == AgentsFile.Model(name: "big", baseURL: server, keyVariable: "KEY"))
            let (navigator, cook) = (file.agents[0], file.agents[1])
            let big = AgentsFile.Model(name: "big", baseURL: server, keyVariable: "KEY")
            #expect(navigator.kind == .model(big, prompt: "Be calm.\n", tools: [.searchHistory, .takeNote]))
            #expect(cook.name == "Cook")
            #expect(file.agents[2].kind == .scribe)
            #expect(file.historyTokens == 50000)
        }

        @Test("An API key is sent only to the server it is configured with")
        func keys() throws {
            let cook = try AgentsFile(Self.good, path: "a.yaml").agents[1]
            let other = URL(string: "https://other.example/v1")
            #expect(
                cook.kind == .model(.init(name: "small", baseURL: other, keyVariable: nil), prompt: nil, tools: []))
            let plain = "model: m\nagents: [{name: A, description: b}]"
            let openAI = AgentsFile.Model(name: "m", baseURL: nil, keyVariable: "OPENAI_API_KEY")
            #expect(try AgentsFile(plain, path: "a").agents[0].kind == .model(openAI, prompt: nil, tools: []))
        }

        @Test("A JSON file defines agents, too")
        func json() throws {
            let text = """
                {"model": "m", "agents": [\n\t{"name": "Ünï \\u00e9", "description": "d\\n2"}, {"kind": "historian"}]}
                """
            let file = try AgentsFile(text, path: "a.json")
            #expect(file.agents.map(\.name) == ["Ünï é", nil])
            #expect(file.agents.first?.description == "d\n2")
        }

        @Test(
            "Errors name the file and the line",
            arguments: [
                ("", "f.yaml is empty"), ("agents: [", "f.yaml is not valid YAML or JSON"),
                ("just text", "f.yaml:1: must be a mapping"),
                ("agents: []", "f.yaml:1: no agents"), ("model: m", "no agents"),
                ("agents:\n- kind: historian\nmodle: x", "f.yaml:3: unknown key 'modle'"),
                ("agents:\n- kind: historian\n  nmae: x", "f.yaml:3: unknown key 'nmae'"),
                ("agents:\n- kind: poet", "f.yaml:2: must be one of historian, scribe, not 'poet'"),
                ("agents:\n- kind: scribe\n  prompt: x", "f.yaml:3: 'prompt' cannot be used with 'kind'"),
                ("model: m\nagents:\n- description: x", "f.yaml:3: the agent has no 'name'"),
                ("model: m\nagents:\n- name: x", "f.yaml:3: the agent has no 'description'"),
                ("agents:\n- name: x\n  description: y", "f.yaml:2: the agent has no 'model'"),
                (
                    "model: m\nagents:\n- {name: A b, description: x}\n- {name: a B, description: x}",
                    "f.yaml:4: duplicate agent 'a B'"
                ),
                ("model: m\nagents:\n- {name: '!?', description: x}", "f.yaml:3: the name of the agent has no letters"),
                (
                    "model: m\nagents:\n- {name: A, description: x, tools: [rm]}",
                    "f.yaml:3: must be one of search_history"
                ),
                (
                    "model: m\nbase_url: localhost\nagents:\n- kind: scribe",
                    "f.yaml:2: must be a server URL"
                ),
                ("classifier: model\nagents:\n- kind: scribe", "the classifier 'model' requires a 'model'"),
                ("classifier: best\nagents:\n- kind: scribe", "f.yaml:1: must be one of keyword, model"),
                ("model: a\nmodel: b\nagents:\n- kind: scribe", "f.yaml"),
                ("history_tokens: 0\nagents:\n- kind: scribe", "f.yaml:1: must be a whole number above 0"),
                ("history_tokens: many\nagents:\n- kind: scribe", "f.yaml:1: must be a whole number above 0"),
                ("model: [a]\nagents:\n- kind: scribe", "f.yaml:1: must be text"),
            ])
        func bad(text: String, problem: String) throws {
            let error = #expect(throws: RecollectError.self) { try AgentsFile(text, path: "f.yaml") }
            #expect(error?.code == .unreadable)
            #expect(error?.message.contains(problem) == true, "\(error?.message ?? "")")
        }
    }
#endif
