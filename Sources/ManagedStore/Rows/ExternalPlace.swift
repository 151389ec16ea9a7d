import Files
import ManagedModel
import Synchronization

/// What is found under the name of an external data file that a row holds.
package enum ExternalPlace: Sendable {
  /// A regular file in the store's own folder, open for reading.
  case file(OpenFile)
  /// Nothing is there, or the name is none of Core Data's.
  case missing
  /// Something is there that cannot be read: a link, which is never followed, since a store that came
  /// from elsewhere could name any file of its reader's; no permission; an error of the disk; the
  /// placeholder of a file that is not downloaded.
  case unreadable(CoreDataError)

  /// Whether nothing is there.
  package var isMissing: Bool { if case .missing = self { true } else { false } }
}

/// The folder of a store's external data, opened once and through no link.
package final class ExternalFolder: Sendable {
  private enum State {
    case unopened
    case open(Folder)
    case missing
    case unreadable(CoreDataError)
  }

  private let files: StoreFiles
  private let state = Mutex<State>(.unopened)

  /// Nothing is opened before the first question.
  package init(_ files: StoreFiles) { self.files = files }

  /// The file of a name that a row holds.
  package func place(of name: String) -> ExternalPlace {
    guard StoreFiles.isExternalName(name) else { return .missing }
    switch opened() {
    case .missing, .unopened: return .missing
    case .unreadable(let error): return .unreadable(error)
    case .open(let folder):
      do {
        if let file = try folder.file(name) { return .file(file) }
        let placeholder = CloudPlaceholder.name(for: name)
        guard try folder.entry(placeholder)?.kind == .file else { return .missing }
        return .unreadable(CloudPlaceholder.error(for: folder.path(of: name)))
      } catch let error as CoreDataError {
        return .unreadable(error)
      } catch {
        return .missing
      }
    }
  }

  /// Names of the regular files in the folder, sorted; none where there is no such folder.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable where the folder is there and cannot be listed.
  package func list() throws -> [String] {
    switch opened() {
    case .missing, .unopened: return []
    case .unreadable(let error): throw error
    case .open(let folder):
      return try folder.list().filter {
        try CloudPlaceholder.file(ofPlaceholder: $0) == nil && folder.entry($0)?.kind == .file
      }
    }
  }

  /// The folder itself; `nil` where there is none.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable where it is there and cannot be opened.
  package func folder() throws -> Folder? {
    switch opened() {
    case .missing, .unopened: return nil
    case .unreadable(let error): throw error
    case .open(let folder): return folder
    }
  }

  /// Size of something in the folder, whether a row names it or not.
  func size(of name: String) -> Int { (try? folder()?.entry(name)?.size) ?? 0 }

  private func opened() -> State {
    state.withLock { state in
      if case .unopened = state {
        do {
          let data = FileSystem.name(of: files.externalDataFolder)
          state = try files.openSupportFolder()?.folder(data).map(State.open) ?? .missing
        } catch let error as CoreDataError {
          state = .unreadable(error)
        } catch {
          state = .missing
        }
      }
      return state
    }
  }
}

extension StoreFiles {
  /// The hidden folder beside the store: `.<name>_SUPPORT`.
  package var supportFolder: String {
    FileSystem.parent(of: externalDataFolder) ?? externalDataFolder
  }

  /// Opens the hidden folder beside the store; `nil` where there is none.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable for a link in its place, which is not followed, and for
  ///   a folder that may not be entered.
  package func openSupportFolder() throws -> Folder? {
    let (base, name) = (
      FileSystem.parent(of: supportFolder) ?? ".", FileSystem.name(of: supportFolder)
    )
    guard FileSystem.isDirectory(base) else { return nil }
    return try Folder(base).folder(name)
  }

  /// Whether a name can be one that Core Data gives to a file of external data: a damaged or hostile store
  /// must not lead outside its folder.
  package static func isExternalName(_ name: String) -> Bool {
    let isPlain = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    return isPlain && !name.isEmpty && name.utf8.count <= 255
  }
}
