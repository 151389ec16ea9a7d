import Files
import Salvage

extension SalvageSource {
  /// The -wal beside a store that somebody wants to be left out.
  struct LeftOutLog {
    /// What is reported of it, as sentences.
    let note: String
    /// Whether nothing shows that it is another store's: rows of this one may be missing then.
    let mayBeOwn: Bool

    /// - Parameters:
    ///   - path: the store's path; a -wal that lost its name counts as the store's.
    ///   - journal: the path of the -journal that is rolled back with it.
    ///   - main: the main file alone.
    /// - Returns: `nil` where no frame is left out.
    init?(of path: String, journal: String, main: DatabaseImage) {
      var unread: [String] = []
      let log: String
      do {
        guard let found = try SalvageSource.log(of: path, &unread) else { return nil }
        log = found
        let image = try DatabaseImage(path: path, log: log, journal: journal, isRealigned: true)
        guard let frames = image.log?.applied, frames > 0 else { return nil }
        let start =
          "\(FileSystem.name(of: log)) (\(NumberText.counted(frames, "frame"))) was left out"
        if let found = try LogKinship(image, main: main)?.contradiction() {
          note =
            "\(start), because it does not belong to this state of the main file (\(found.words)). \(SalvageSource.lackedOwnLog)"
          mayBeOwn = false
        } else {
          note = "\(start): what was saved only there is not in what was read."
          mayBeOwn = true
        }
      } catch {
        note =
          "The -wal was left out and could not be looked at: what was saved only there is not in what was read."
        mayBeOwn = true
      }
    }
  }
}
