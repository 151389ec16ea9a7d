import Files
import ManagedModel

/// What a person has handed over instead of a store.
package enum ContainerForm: Sendable, Equatable {
  /// A folder with stores somewhere in it.
  case folder
  /// What Xcode downloads of an app from a device.
  case appData
  /// An iOS backup, whose files are named by digests.
  case backup
  case archive(ArchiveForm)

  /// What it is, as a noun.
  package var noun: String {
    switch self {
    case .folder: "a folder"
    case .appData: "an app's data (.xcappdata)"
    case .backup: "an iOS backup"
    case .archive(let form): form.noun
    }
  }

  /// A word for programs.
  package var identifier: String {
    switch self {
    case .folder: "folder"
    case .appData: "xcappdata"
    case .backup: "ios-backup"
    case .archive(let form): form.rawValue
    }
  }

  /// What is at a path, by what is in it; `nil` for a file that is no archive, and for nothing.
  package init?(at path: String) {
    guard let status = FileSystem.status(path) else { return nil }
    switch status.kind {
    case .other: return nil
    case .file:
      guard let form = ArchiveForm(at: path) else { return nil }
      self = .archive(form)
    case .directory:
      if BackupManifest.isBackup(path) {
        self = .backup
      } else if Self.isAppData(path) {
        self = .appData
      } else {
        self = .folder
      }
    }
  }

  private static func isAppData(_ path: String) -> Bool {
    FileSystem.name(of: path).lowercased().hasSuffix(".xcappdata")
      || FileSystem.isFile(path + "/AppDataInfo.plist") && FileSystem.isDirectory(path + "/AppData")
  }
}
