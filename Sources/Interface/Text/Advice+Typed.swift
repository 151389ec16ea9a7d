import ManagedModel
import Migration

extension CoreDataError {
  /// What to try, with what a person types for the values it names.
  package var typedHint: String? { advice?.typed }
}

extension Advice {
  private static let flags: [Choice: String] = [
    .model: "--model", .source: "--from", .versions: "--via", .documents: "--mapping",
    .output: "--output", .allowedLosses: "--allow-loss", .force: "--force", .backup: "--from",
    .deletesBackup: "--delete-backup",
  ]

  /// The sentence as a person at the command line or on the screen reads it.
  package var typed: String {
    text { choice, values in
      let flag = Self.flags[choice] ?? choice.name
      return values.isEmpty
        ? flag : values.map { "\(flag) \(ShellText.quoted($0))" }.joined(separator: " ")
    }
  }
}
