import JSON
import Terminal
import TestSupport
import Testing

@testable import Commands
@testable import Interface
@testable import strata

@Suite("The configuration")
struct ConfigurationTests {
  private func read(_ text: String) -> Configuration { Configuration(Array(text.utf8)) }

  @Test("comments and names without quotes are welcome; each setting is taken")
  func all() {
    let configuration = read(
      """
      {
        // for the night
        themeDark: "ember", themeLight: "paper",
        mouse: false, restoreSessions: false, frameRate: 10, refresh: "mark",
        keys: { Browse: { sort: "S", back: ["backspace", "^o"] }, Everywhere: { redo: null } },
      }
      """)
    #expect(configuration.problems.isEmpty)
    #expect(configuration.theme(isLight: true) == "paper")
    #expect(configuration.theme(isLight: false) == "ember")
    #expect(!configuration.mouse && !configuration.restoreSessions)
    #expect(configuration.frameRate == 10 && configuration.refresh == .mark)
    #expect(configuration.keys.keys["Browse"]?["sort"] == [.character("S")])
    #expect(configuration.keys.keys["Browse"]?["back"] == [.backspace, .control("o")])
    #expect(configuration.keys.keys["Everywhere"]?["redo"] == [])
  }

  @Test("a mistake is told with its line and costs only its own setting")
  func mistakes() {
    let configuration = read(
      """
      {
        mouse: "yes",
        themeDrak: "ember",
        frameRate: 500, refresh: "often",
        keys: {
          Browse: { srot: "S", sort: "Hyper-S", back: 7 },
          Brows: {},
        },
        theme: "paper",
      }
      """)
    #expect(
      configuration.problems == [
        "config.json line 2: “mouse” is true or false, not text",
        "config.json line 3: there is no “themeDrak”; did you mean “themeDark”?",
        "config.json line 4: “frameRate” is a whole number from 1 to 120, not a number",
        "config.json line 4: “refresh” is “live”, “mark” or “ask”, not “often”",
        "config.json line 6: Browse has no “srot”; did you mean “sort”?",
        "config.json line 6: there is no key “Hyper-S”; write S, ^s, enter, tab, space, f2 or alt-x",
        "config.json line 6: “back” takes the name of a key, not a number",
        "config.json line 7: there is no section “Brows”; did you mean “Browse”?",
      ])
    #expect(configuration.theme == "paper" && configuration.mouse)
    #expect(configuration.keys == KeyRemapping())
  }

  @Test(
    "what is no JSON5 or no object is told, and all is as it comes",
    arguments: ["{ mouse: ", "[]", "", "{a: b}", "\u{0}"])
  func damaged(text: String) {
    let configuration = read(text)
    #expect(configuration.problems.count == 1)
    #expect(configuration.problems.first?.hasPrefix("config.json line 1: ") == true)
    #expect(configuration.mouse && configuration.frameRate == 30)
  }

  @Test("a key that would mean two things is told")
  func conflicts() {
    let problems = read(#"{keys: {Browse: {sort: "T"}}}"#).problems
    #expect(problems.first?.contains("Browse: T is “sort” and cannot also be") == true)
  }

  @Test("there need be none")
  func none() {
    #expect(Configuration(folder: nil).problems.isEmpty)
    #expect(Configuration(folder: "/nonexistent").problems.isEmpty)
  }

  @Test("relative folders of XDG are passed over, as its specification says")
  func folders() {
    let folders = UserFolders { ["HOME": "/home/ann", "XDG_STATE_HOME": "state"][$0] }
    #expect(folders.state == "/home/ann/.local/state/strata")
    #expect(folders.configuration == "/home/ann/.config/strata")
    #expect(UserFolders { _ in nil }.state == nil)
  }

  @Test("strata keys lists names, keys and titles, as JSON too")
  func keys() throws {
    struct List: Decodable {
      struct Key: Decodable { let section, name, title: String, keys: [String], command: String? }
      let keys: [Key]
      let problems: [String]
    }
    let text = Captured("keys")
    #expect(text.status == .done)
    #expect(text.out.contains("Browse\n") && text.out.contains("nextPane"))
    let list = try Captured("keys", "--json").decoded(List.self)
    let sort = list.keys.first { $0.section == "Browse" && $0.name == "sort" }
    #expect(sort?.title == "sort" && sort?.command?.hasPrefix("strata rows") == true)
    #expect(Set(list.keys.map(\.section)).isSuperset(of: ["Browse", "Everywhere", "Files"]))
  }
}
