import ManagedModel
import ManagedStore
import Migration
import Terminal

/// The themes there are: those in the program and the user's own, which come first.
struct ThemeLibrary {
  let names: [String]
  private let files: [String: String]
  private var themes: [String: Theme] = [:]

  /// - Parameter environment: XDG_CONFIG_HOME and HOME say where the user's own are.
  init(environment: (String) -> String?) {
    let config =
      environment("XDG_CONFIG_HOME").flatMap { $0.isEmpty ? nil : $0 }
      ?? environment("HOME").map { $0 + "/.config" }
    let folder = config.map { $0 + "/strata/themes" }
    var files: [String: String] = [:]
    for name in folder.flatMap({ try? FileSystem.list($0) }) ?? [] where name.hasSuffix(".json") {
      if let folder { files[String(name.dropLast(5))] = folder + "/" + name }
    }
    self.files = files
    names = files.keys.sorted() + Self.builtIn.map(\.name).filter { files[$0] == nil }
  }

  /// The theme of that name, or in the file of that path.
  ///
  /// - Throws: ``CoreDataError`` that says what is wrong with the file, or which names there are.
  mutating func theme(named name: String) throws -> Theme {
    if let known = themes[name] { return known }
    let theme: Theme
    do {
      if let path = files[name] ?? (name.hasSuffix(".json") ? name : nil) {
        let bytes = try FileSystem.read(path, limit: 1 << 20)
        if let mistake = JSON5Check(bytes) {
          throw CoreDataError(
            .usage, "line \(mistake.line): the theme is not JSON: \(mistake.message)", path: path)
        }
        theme = try Theme(json: bytes)
      } else if let bytes = Self.builtIn.first(where: { $0.name == name })?.bytes {
        theme = try Theme(json: bytes())
      } else {
        throw CoreDataError(
          .usage, "there is no theme “\(name)”",
          hint: "There are \(names.joined(separator: ", ")); a path of a theme file will do too.")
      }
    } catch let error as ThemeError {
      let place = error.line.map { "line \($0): " } ?? ""
      throw CoreDataError(.usage, place + error.description, path: files[name] ?? name)
    }
    themes[name] = theme
    return theme
  }

  /// The theme to begin with where the environment decides: `NO_COLOR` has none, and COLORFGBG tells
  /// a light background from a dark one. `nil` where the terminal is to be asked.
  static func name(fromEnvironment environment: (String) -> String?) -> String? {
    if let noColor = environment("NO_COLOR"), !noColor.isEmpty { return "mono" }
    // "0;15": the background is the last number; 7 and 9 to 15 are light.
    let background = environment("COLORFGBG")?.split(separator: ";").last.flatMap { Int($0) }
    return background.map { name(isLight: $0 == 7 || $0 > 8) }
  }

  /// The theme for a terminal that is light or dark; most are dark.
  static func name(isLight: Bool?) -> String { isLight == true ? "paper" : "midnight" }

  private static let builtIn: [(name: String, bytes: @Sendable () -> [UInt8])] = [
    ("midnight", { PackageResources.midnight_json }),
    ("ember", { PackageResources.ember_json }),
    ("paper", { PackageResources.paper_json }),
    ("fjord", { PackageResources.fjord_json }),
    ("contrast", { PackageResources.contrast_json }),
    ("mono", { PackageResources.mono_json }),
  ]
}
