import Files

/// Where a person's own files for strata are, as XDG has it.
struct UserFolders: Sendable {
  /// `nil` where the environment names neither the folder nor a home.
  let configuration: String?
  let state: String?
  let home: String?

  init(environment: (String) -> String?) {
    home = environment("HOME").flatMap { $0.isEmpty ? nil : $0 }
    configuration = StateFolder.folder("XDG_CONFIG_HOME", "/.config", environment)
    state = StateFolder.path(environment: environment)
  }
}
