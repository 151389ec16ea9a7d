/// Where a person's own files for strata are, as XDG has it.
struct UserFolders: Sendable {
  /// `nil` where the environment names neither the folder nor a home.
  let configuration: String?
  let state: String?
  let home: String?

  init(environment: (String) -> String?) {
    func value(_ name: String) -> String? {
      environment(name).flatMap { $0.isEmpty ? nil : $0 }
    }
    home = value("HOME")
    let home = home
    func folder(_ name: String, _ fallback: String) -> String? {
      // A relative path is to be ignored, the specification says.
      let named = value(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
      return (named ?? home.map { $0 + fallback }).map { $0 + "/strata" }
    }
    configuration = folder("XDG_CONFIG_HOME", "/.config")
    state = folder("XDG_STATE_HOME", "/.local/state")
  }
}
