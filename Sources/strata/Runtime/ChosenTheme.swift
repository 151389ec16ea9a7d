import FoundationEssentials
import ManagedStore

/// The theme that was chosen last with T, for all stores.
struct ChosenTheme: Codable, Sendable, Equatable {
  var theme: String

  private static func file(_ state: String) -> String { state + "/theme.json" }

  static func read(state: String?) -> String? {
    guard let state, FileSystem.isFile(file(state)),
      let bytes = try? FileSystem.read(file(state), limit: 1 << 16)
    else { return nil }
    return (try? JSONDecoder().decode(ChosenTheme.self, from: Data(bytes)))?.theme
  }

  static func keep(_ theme: String, state: String?) {
    guard let state, let data = try? JSONEncoder().encode(ChosenTheme(theme: theme)) else { return }
    try? FileSystem.makeDirectory(state, permissions: 0o700)
    try? FileSystem.replace(file(state), with: Array(data))
  }
}
