import Files
import ManagedStore

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
