/// The four screens, in the order of their keys.
package enum Screen: Int, Sendable, CaseIterable {
  case browse = 1
  case diff, mapping, migrate

  package var title: String {
    switch self {
    case .browse: "Browse"
    case .diff: "Diff"
    case .mapping: "Mapping"
    case .migrate: "Migrate"
    }
  }
}
