/// Where strata keeps what it remembers between two runs: `$XDG_STATE_HOME/strata`, else
/// `~/.local/state/strata`.
package enum StateFolder {
  /// - Parameter environment: a variable's value.
  /// - Returns: `nil` where the environment names neither the folder nor a home.
  package static func path(
    environment: (String) -> String? = { getenv($0).map { String(cString: $0) } }
  ) -> String? { folder("XDG_STATE_HOME", "/.local/state", environment) }

  /// A folder of strata's own, as the XDG specification has it: a relative path is ignored.
  package static func folder(
    _ name: String, _ fallback: String, _ environment: (String) -> String?
  ) -> String? {
    let named = environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
    let home = environment("HOME").flatMap { $0.isEmpty ? nil : $0 }
    return (named ?? home.map { $0 + fallback }).map { $0 + "/strata" }
  }
}
