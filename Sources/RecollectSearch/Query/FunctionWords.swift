/// The words with little meaning of their own: articles, pronouns, prepositions, auxiliary verbs and question words.
///
/// A search ranks by them only if a query has no other words. `door` is one in Dutch but not in English, so the
/// language of the query is that with the most of them: two or more, except for English.
enum FunctionWords {
    /// Returns the units that are not function words, or all if there are no others.
    static func removed(from units: [ParsedQuery.Unit]) -> [ParsedQuery.Unit] {
        let content = content(of: units)
        return content.isEmpty ? units : content
    }

    /// Returns the units that are not function words.
    static func content(of units: [ParsedQuery.Unit]) -> [ParsedQuery.Unit] {
        let words = units.map { unit in
            unit.isWord ? String(decoding: unit.terms[0], as: UTF8.self) : ""
        }
        var language: (words: Set<String>, count: Int) = (languages[0], 0)
        for (index, other) in languages.enumerated() {
            let count = words.count(where: other.contains)
            if count > language.count, index == 0 || count > 1 { language = (other, count) }
        }
        return zip(units, words).filter { !language.words.contains($1) }.map(\.0)
    }

    private static let languages = [english, german, french, spanish, italian, portuguese, dutch].map {
        Set($0.split(whereSeparator: \.isWhitespace).map(String.init))
    }

    private static let english = """
        a about after again all also am an and any are aren as at be because been before being between both but by can
        could couldn d did didn do does doesn doing don down during each few for from had hadn has hasn have haven having he
        her here hers him his how i if in into is isn it its itself just ll m me more most my myself no nor not now of off
        on once only or other our ours out over own re s same she should shouldn so some such t than that the their them
        then there these they this those through to too under until up us ve very was wasn we were weren what when where
        which while who whom whose why will with won would wouldn you your yours
        """
    private static let german = """
        aber alle als am an auch auf aus bei bin bis bist da damit das dass dein deine dem den der des die dies diese dir
        doch du durch ein eine einem einen einer eines er es fur hab habe haben hat hatte ich ihm ihn ihr ihre im in ist ja
        kann kein keine konnte man mein meine mich mir mit nach nicht noch nun nur ob oder sein seine sich sie sind so uber
        um und uns unser von vor wann war waren warum was weil welche welcher welches wenn wer werden wie wieso wird wir wo
        wurde wurden zu zum zur
        """
    private static let french = """
        ai au aux avec avons avez c ce ces cette d dans de des du elle elles en est et eu il ils j je l la le les leur lui
        ma mais me mes moi mon n ne nos notre nous on ont ou par pas pour pourquoi qu quand que quel quelle quelles quels
        qui quoi s sa se ses son sont sur ta te tes toi ton tu un une vos votre vous y
        """
    private static let spanish = """
        al como con cual cuando de del donde el ella ellas ellos en era es esa ese eso esta estas este esto fue ha han hay
        he la las le les lo los me mi mis muy nos o para pero por porque que quien se ser si sin sobre son su sus te tu tus
        un una uno unos y ya yo
        """
    private static let italian = """
        ai al alla alle che chi ci come con cosa da dal dalla dei del della delle di dove e ed gli ha hai hanno ho i il in
        io la le lei lo lui ma mi mia mio ne nel nella noi non per perche piu quale quali quando quello questa questo se si
        sono sta su sua sul sulla suo te ti tu un una uno vi voi
        """
    private static let portuguese = """
        ao aos as com como da das de do dos e ela ele eles em era essa esse esta este eu foi ha isso isto ja la lhe mais mas
        me meu minha na nao nas no nos o onde os ou para pela pelo por porque qual quando que quem se sem ser seu sua tem te
        um uma voce
        """
    private static let dutch = """
        aan al als bij dan dat de der deze die dit door een en er haar had heb hebben heeft hem het hier hij hoe hun ik in
        is ja je kan maar me met mij mijn na naar niet nog nu of om omdat ons ook op over te tot u uit van veel voor waar
        waarom want waren was wat we welke wie wij wordt zal ze zich zij zijn zo zou
        """
}
