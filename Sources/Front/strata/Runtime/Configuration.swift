import Commands
import Files
import Interface
import JSON
import Terminal

/// What a person has set in `config.json`: JSON5, all of it optional.
///
/// A mistake costs the setting that it is in and is reported; it never keeps strata from starting.
struct Configuration: Sendable, Equatable {
  /// A theme for every terminal, or one for dark and one for light ones.
  var theme: String?
  var themeDark: String?
  var themeLight: String?
  var mouse = true
  var restoreSessions = true
  /// Frames a second while answers stream in.
  var frameRate = 30
  /// What is done when another program saves to the store.
  var refresh = RefreshMode.live
  var keys = KeyRemapping()
  /// What is wrong with the file, with lines and keys.
  var problems: [String] = []

  private static let names = [
    "theme", "themeDark", "themeLight", "mouse", "restoreSessions", "frameRate", "refresh", "keys",
  ]

  /// Reads the file of that folder; everything as it comes if none exists.
  init(folder: String?) {
    guard let path = folder.map({ $0 + "/config.json" }), FileSystem.status(path) != nil else {
      self.init(Array("{}".utf8))
      return
    }
    do {
      self.init(try FileSystem.read(path, limit: 1 << 20))
    } catch {
      self.init(Array("{}".utf8))
      problems = ["config.json: \(error)"]
    }
  }

  /// That of the person who runs the program.
  static func ofUser() -> Configuration {
    Configuration(
      folder: UserFolders(environment: Output.environment).configuration)
  }

  /// Reports which of the themes that are set do not exist.
  mutating func checkThemes(in themes: ThemeLibrary) {
    for name in [theme, themeDark, themeLight].compactMap({ $0 }) where !themes.has(name) {
      problems.append(
        "config.json: there is no theme “\(name)”; there are \(themes.names.joined(separator: ", "))"
      )
    }
  }

  init(_ bytes: [UInt8]) {
    func line(_ range: Range<Int>) -> Int {
      1 + bytes.prefix(range.lowerBound).count { $0 == UInt8(ascii: "\n") }
    }
    let members: [JSON5.Member]
    do {
      let whole = try JSON5.read(bytes)
      guard case .object(let found) = whole.kind else {
        problems = ["config.json line \(line(whole.range)): it must be an object, in { }"]
        return
      }
      members = found
    } catch {
      problems = ["config.json line \(line(error.range)): \(error.message)"]
      return
    }
    for member in members {
      for (range, text) in read(member) {
        problems.append("config.json line \(line(range)): \(text)")
      }
    }
    problems += keys.conflicts.map { "config.json: " + $0 }
  }

  /// The theme for a terminal that is light or dark; most are dark.
  func theme(isLight: Bool) -> String {
    isLight ? themeLight ?? "paper" : themeDark ?? "midnight"
  }

  private typealias Problem = (Range<Int>, String)

  private mutating func read(_ member: JSON5.Member) -> [Problem] {
    func wrong(_ wanted: String) -> [Problem] {
      [(member.value.range, "“\(member.key)” is \(wanted), not \(member.value.name)")]
    }
    switch (member.key, member.value.kind) {
    case ("theme", .string(let name, _)): theme = name
    case ("themeDark", .string(let name, _)): themeDark = name
    case ("themeLight", .string(let name, _)): themeLight = name
    case ("theme", _), ("themeDark", _), ("themeLight", _): return wrong("the name of a theme")
    case ("mouse", .boolean(let value)): mouse = value
    case ("restoreSessions", .boolean(let value)): restoreSessions = value
    case ("mouse", _), ("restoreSessions", _): return wrong("true or false")
    case ("frameRate", .integer(let value)) where (1...120).contains(value):
      frameRate = Int(value)
    case ("frameRate", _): return wrong("a whole number from 1 to 120")
    case ("refresh", .string(let name, _)):
      guard let mode = RefreshMode(rawValue: name) else {
        return [(member.value.range, "“refresh” is “live”, “mark” or “ask”, not “\(name)”")]
      }
      refresh = mode
    case ("refresh", _): return wrong("“live”, “mark” or “ask”")
    case ("keys", .object(let sections)): return sections.flatMap { readKeys($0) }
    case ("keys", _): return wrong("an object of sections")
    default:
      let meant = KeyRemapping.meant(member.key, Self.names)
      return [(member.keyRange, "there is no “\(member.key)”\(meant)")]
    }
    return []
  }

  /// `"Browse": {"sort": "S", "open": ["enter", "o"], "back": null}`
  private mutating func readKeys(_ section: JSON5.Member) -> [Problem] {
    if let problem = KeyRemapping.problem(section: section.key) {
      return [(section.keyRange, problem)]
    }
    guard case .object(let actions) = section.value.kind else {
      return [(section.value.range, "“\(section.key)” must be an object of actions and keys")]
    }
    var problems: [Problem] = []
    for action in actions {
      if let problem = KeyRemapping.problem(section: section.key, name: action.key) {
        problems.append((action.keyRange, problem))
        continue
      }
      let values: [JSON5]
      switch action.value.kind {
      case .null: values = []
      case .array(let elements): values = elements
      default: values = [action.value]
      }
      var keys: [Key] = []
      for value in values {
        guard case .string(let name, _) = value.kind else {
          problems.append(
            (value.range, "“\(action.key)” takes the name of a key, not \(value.name)"))
          continue
        }
        guard let key = Key(name: name) else {
          problems.append(
            (value.range, "there is no key “\(name)”; write S, ^s, enter, tab, space, f2 or alt-x"))
          continue
        }
        keys.append(key)
      }
      // A key that could not be read leaves the action where it was.
      if keys.count == values.count { self.keys.keys[section.key, default: [:]][action.key] = keys }
    }
    return problems
  }
}
