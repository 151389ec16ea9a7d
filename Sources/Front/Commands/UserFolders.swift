import Files

/// Where a person's own files for strata are, as XDG has it.
package struct UserFolders: Sendable {
  /// `nil` where the environment names neither the folder nor a home.
  package let configuration: String?
  package let state: String?
  package let home: String?

  package init(environment: (String) -> String?) {
    home = environment("HOME").flatMap { $0.isEmpty ? nil : $0 }
    configuration = StateFolder.folder("XDG_CONFIG_HOME", "/.config", environment)
    state = StateFolder.path(environment: environment)
  }
}
