import FoundationEssentials
import Terminal
import Testing

@Suite("Themes")
struct ThemeTests {
  private static let folder = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  private func theme(_ name: String) throws -> Theme {
    try Theme(json: Data(contentsOf: URL(filePath: "/\(Self.folder)/Themes/\(name).json")))
  }

  @Test("the themes that come along decode", arguments: ["midnight", "paper", "mono"])
  func decode(name: String) throws {
    #expect(try theme(name).name == name)
    #expect(try theme("mono") == .mono)
  }

  @Test(
    "text can be read and the selection seen at every depth",
    arguments: ["midnight", "paper"], [ColorDepth.ansi8, .ansi16, .indexed256, .trueColor])
  func legible(name: String, depth: ColorDepth) throws {
    let theme = try theme(name)
    func shown(_ role: Theme.Role, on below: Theme.Role) -> Style {
      theme[role].over(theme[below].over(theme[.text])).reduced(to: depth)
    }
    for role in Theme.Role.allCases where role != .gaugeRest {
      for below in [Theme.Role.text, .selection, .selectionUnfocused, .popup] {
        let style = shown(role, on: below)
        #expect(style.foreground != style.background, "\(role) on \(below)")
      }
    }
    #expect(shown(.selection, on: .text).background != shown(.text, on: .text).background)
    #expect(shown(.selectionUnfocused, on: .text) != shown(.text, on: .text))
  }

  @Test(
    "a mistake in a theme is named",
    arguments: [
      (#"{"name": "x", "roles": {"txet": "red"}}"#, "there is no role “txet”"),
      (#"{"name": "x", "roles": {"text": "rde"}}"#, "“rde” of role “text” is not a colour"),
      (#"{"name": "x", "roles": {"text": 256}}"#, "colour 256 of role “text”"),
      (#"{"name": "x", "roles": {"text": {"colour": 1}}}"#, "role “text” has no “colour”"),
      (#"{"name": "x", "roles": {"text": {"bold": 1}}}"#, "“roles.text.bold” should be"),
      (#"{"name": "x", "palette": {"a": "b"}, "roles": {"text": "a"}}"#, "“b” in the palette"),
      (#"{"name": "x"}"#, "has no “roles”"),
      ("{", "not JSON"),
      ("", "not JSON"),
    ])
  func mistakes(json: String, message: String) {
    let error = #expect(throws: ThemeError.self) { try Theme(json: json.utf8) }
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
  }

  @Test(
    "colours are written in words or numbers",
    arguments: [
      ("#ff8000", Color.rgb(255, 128, 0)), ("blue", .ansi(4)), ("bright-blue", .ansi(12)),
      ("208", .indexed(208)), ("7", .ansi(7)), ("default", .default), ("grey", .ansi(8)),
    ])
  func colors(name: String, color: Color) {
    #expect(Color(name: name) == color)
  }

  @Test(
    "a colour becomes the nearest there is",
    arguments: [
      (Color.rgb(255, 0, 0), ColorDepth.indexed256, Color.indexed(196)),
      (.rgb(8, 8, 8), .indexed256, .indexed(232)), (.rgb(250, 10, 10), .ansi16, .ansi(9)),
      (.rgb(200, 10, 10), .ansi8, .ansi(1)), (.indexed(196), .ansi8, .ansi(1)),
      (.ansi(12), .ansi8, .ansi(4)), (.ansi(8), .ansi8, .ansi(7)), (.rgb(1, 2, 3), .none, .default),
      (.rgb(1, 2, 3), .trueColor, .rgb(1, 2, 3)), (.indexed(9), .ansi16, .ansi(9)),
    ])
  func reduction(color: Color, depth: ColorDepth, reduced: Color) {
    #expect(color.reduced(to: depth) == reduced)
  }

  @Test("the depth follows terminfo and NO_COLOR")
  func depth() {
    #expect(ColorDepth(terminfoColors: 256, isDirect: false, noColor: nil) == .indexed256)
    #expect(ColorDepth(terminfoColors: 256, isDirect: false, noColor: "") == .indexed256)
    #expect(ColorDepth(terminfoColors: 256, isDirect: false, noColor: "1") == .none)
    #expect(ColorDepth(terminfoColors: 1 << 24, isDirect: true, noColor: nil) == .trueColor)
    #expect(ColorDepth(terminfoColors: 8, isDirect: false, noColor: nil) == .ansi8)
    #expect(ColorDepth(terminfoColors: -1, isDirect: false, noColor: nil) == .none)
  }
}
