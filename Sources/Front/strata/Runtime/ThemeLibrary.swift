import Commands
import Files
import Interface
import JSON
import ManagedModel
import Terminal
import Texts

/// The themes there are: those in the program and the person's own, which come first.
struct ThemeLibrary {
  /// Where the person's own are; `nil` where no home is known.
  private let folder: String?
  /// The person's own files, by name.
  private var files: [String: String] = [:]
  private var themes: [String: Theme] = [:]

  /// - Parameter environment: XDG_CONFIG_HOME and HOME say where the person's own are.
  init(environment: (String) -> String?) {
    folder = UserFolders(environment: environment).configuration.map { $0 + "/themes" }
    look()
  }

  private mutating func look() {
    files = [:]
    for name in folder.flatMap({ try? FileSystem.list($0) }) ?? [] where name.hasSuffix(".json") {
      if let folder { files[String(name.dropLast(5))] = folder + "/" + name }
    }
  }

  var names: [String] {
    files.keys.sorted() + Self.builtInNames.filter { files[$0] == nil }
  }

  func has(_ name: String) -> Bool { names.contains(name) }

  /// The theme of that name, or in the file of that path.
  ///
  /// - Throws: ``CoreDataError`` of kind usage that says which names there are, or of kind unreadable
  ///   that says what is wrong with the file, and in which line.
  mutating func theme(named name: String) throws -> Theme {
    if let known = themes[name] { return known }
    let theme: Theme
    if let path = files[name] ?? (name.hasSuffix(".json") ? name : nil) {
      guard FileSystem.isFile(path) else {
        throw CoreDataError(.usage, "there is no such theme file", path: path)
      }
      theme = try Self.read(path)
    } else if Self.builtInNames.contains(name) {
      theme = try Theme(json: EmbeddedFile.bytes(name))
    } else {
      throw CoreDataError(
        .usage, "there is no theme “\(name)”",
        hint: "There are \(names.joined(separator: ", ")); or give the path of a theme file.")
    }
    themes[name] = theme
    return theme
  }

  /// All of them, to choose from; files that were changed meanwhile are read again.
  mutating func choices() -> [ThemeChoice] {
    for name in files.keys { themes[name] = nil }
    look()
    return names.map { name in
      let kind: ThemeChoice.Kind
      do {
        let theme = try theme(named: name)
        kind = theme[.text].background == .default ? .plain : theme.isLight ? .light : .dark
      } catch {
        let error = CoreDataError(error, or: .unreadable)
        let file = error.path.map { FileSystem.name(of: $0) + ", " } ?? ""
        kind = .unreadable(file + error.message)
      }
      return ThemeChoice(name: name, kind: kind, isOwn: files[name] != nil)
    }
  }

  private static func read(_ path: String) throws -> Theme {
    let bytes = try FileSystem.read(path, limit: 1 << 20)
    if let mistake = JSON5Check(bytes) {
      throw CoreDataError(
        .unreadable, "line \(mistake.line): the theme is not JSON: \(mistake.message)", path: path)
    }
    do {
      return try Theme(json: bytes)
    } catch {
      let place = error.line.map { "line \($0): " } ?? ""
      throw CoreDataError(.unreadable, place + error.description, path: path)
    }
  }

  /// The theme that was set or kept, or that the surroundings ask for; `nil` where nothing decides.
  func chosen(by configuration: Configuration, environment: (String) -> String?) -> String? {
    func known(_ name: String?) -> String? { name.flatMap { has($0) ? $0 : nil } }
    return Self.name(fromNoColor: environment("NO_COLOR")) ?? known(configuration.theme)
      ?? known(ThemeMemory.name(environment: environment))
      ?? Self.isLight(background: environment("COLORFGBG")).map { configuration.theme(isLight: $0) }
  }

  /// `NO_COLOR` asks for none.
  static func name(fromNoColor value: String?) -> String? {
    value.map { !$0.isEmpty } == true ? "mono" : nil
  }

  /// Whether COLORFGBG, as in `0;15`, shows a light background: its last number, of which 7 and 9 to
  /// 15 are light. `nil` where the terminal is to be asked.
  static func isLight(background value: String?) -> Bool? {
    value?.split(separator: ";").last.flatMap { Int($0) }.map { $0 == 7 || $0 > 8 }
  }

  static let builtInNames = ["midnight", "ember", "paper", "fjord", "contrast", "mono"]
}

/// The theme that was kept last, for the next start: a line in `$XDG_STATE_HOME/strata/theme`.
enum ThemeMemory {
  /// `nil` where none was kept, or where nothing says whose it would be.
  static func name(environment: (String) -> String?) -> String? {
    guard let path = path(environment), let bytes = try? FileSystem.read(path, limit: 1024) else {
      return nil
    }
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  /// A folder that cannot be written is no reason to bother anyone.
  static func keep(_ name: String, environment: (String) -> String?) {
    guard let path = path(environment), let folder = FileSystem.parent(of: path) else { return }
    try? FileSystem.makeDirectory(folder)
    try? FileSystem.replace(path, with: Array((name + "\n").utf8), isPrivate: false)
  }

  private static func path(_ environment: (String) -> String?) -> String? {
    UserFolders(environment: environment).state.map { $0 + "/theme" }
  }
}
