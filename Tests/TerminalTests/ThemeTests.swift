import Terminal
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Themes")
struct ThemeTests {
  private static let folder = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  private func theme(_ name: String) throws -> Theme {
    try Theme(json: Data(contentsOf: URL(filePath: "/\(Self.folder)/Themes/\(name).json")))
  }

  private static let all = ["midnight", "ember", "paper", "fjord", "contrast", "mono"]
  private static let colored = ["midnight", "ember", "paper", "fjord", "contrast"]

  /// What a role looks like on what lies below it.
  private func shown(_ role: Theme.Role, on below: Theme.Role, of theme: Theme) -> Style {
    theme[role].over(theme[below].over(theme[.text]))
  }

  /// What text of any role may lie on.
  private static let grounds: [Theme.Role] = [
    .text, .selection, .selectionUnfocused, .popup, .header, .footerText, .prompt,
  ]

  @Test("a theme that comes along decodes and names every role", arguments: all)
  func decode(name: String) throws {
    let theme = try theme(name)
    #expect(theme.name == name)
    #expect(theme.roles == Set(Theme.Role.allCases))
    #expect(theme.isLight == ["paper", "fjord"].contains(name))
  }

  @Test("the look without colours is the theme mono")
  func mono() throws {
    let theme = try theme("mono")
    for role in Theme.Role.allCases { #expect(theme[role] == Theme.mono[role], "\(role)") }
  }

  @Test("text is 4.5:1 on whatever it lies on, 7:1 in high contrast", arguments: colored)
  func contrast(name: String) throws {
    let theme = try theme(name)
    for role in Theme.Role.allCases where role != .gaugeRest {
      // A line or a bar is no text.
      let isText = ![.border, .borderFocused, .gauge].contains(role)
      let least = !isText ? 3.0 : name == "contrast" ? 7.0 : 4.5
      for below in Self.grounds {
        let style = shown(role, on: below, of: theme)
        let contrast = try #require(style.foreground.contrast(on: style.background))
        #expect(contrast >= least, "\(role) on \(below): \(contrast)")
      }
    }
  }

  @Test(
    "text can be read and the selection seen at every depth", arguments: colored,
    [ColorDepth.ansi8, .ansi16, .indexed256, .trueColor])
  func legible(name: String, depth: ColorDepth) throws {
    let theme = try theme(name)
    let least = depth >= .indexed256 ? 3.8 : 2.0
    for role in Theme.Role.allCases where ![.gauge, .gaugeRest].contains(role) {
      for below in Self.grounds {
        let style = shown(role, on: below, of: theme).reduced(to: depth)
        let contrast = try #require(style.foreground.contrast(on: style.background))
        #expect(contrast >= least, "\(role) on \(below): \(contrast)")
      }
    }
    let text = theme[.text].reduced(to: depth)
    #expect(
      shown(.selection, on: .text, of: theme).reduced(to: depth).background != text.background)
    #expect(shown(.selectionUnfocused, on: .text, of: theme).reduced(to: depth) != text)
  }

  @Test("text that fewer colours would swallow becomes black or white")
  func swallowed() {
    let dark = Style(.rgb(255, 148, 140), on: .rgb(122, 31, 43)).reduced(to: .ansi8)
    #expect(dark == Style(.ansi(7), on: .ansi(1)))
    let light = Style(.rgb(120, 110, 0), on: .rgb(230, 225, 60)).reduced(to: .ansi8)
    #expect(light == Style(.ansi(0), on: .ansi(3)))
    #expect(Style(.ansi(3), on: .ansi(3)).reduced(to: .ansi8) == Style(.ansi(3), on: .ansi(3)))
  }

  @Test(
    "contrast is what WCAG says",
    arguments: [
      (Color.rgb(0, 0, 0), Color.rgb(255, 255, 255), 21), (.rgb(255, 255, 255), .ansi(0), 21),
      (.rgb(9, 9, 9), .rgb(9, 9, 9), 1), (.rgb(118, 118, 118), .rgb(255, 255, 255), 4.54),
    ])
  func contrast(color: Color, background: Color, ratio: Double) throws {
    let contrast = try #require(color.contrast(on: background))
    #expect(abs(contrast - ratio) < 0.01)
    #expect(Color.default.contrast(on: background) == nil)
  }

  @Test(
    "a mistake in a theme has its line",
    arguments: [
      ("{\n\"name\": \"x\",\n\"roles\": {\n// txet: 1\n\"txet\": \"red\"}}", 5),
      ("{\nname: 'x',\nroles: {\n text: 'rde'}}", 4),
      ("{\"name\": \"x\", \"palette\": {\n\"a\": \"b\"}, \"roles\": {\n\"text\": \"a\"}}", 2),
      ("{\"name\": \"x\", \"roles\": {\n\"text\": {\n\"bold\": 1}}}", 3),
    ])
  func lines(json: String, line: Int) {
    let error = #expect(throws: ThemeError.self) { try Theme(json: json.utf8) }
    #expect(error?.line == line, "\(error?.description ?? "")")
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
