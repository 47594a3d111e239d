/// Words without a topic: articles, pronouns, auxiliaries, requests, agreement.
///
/// The sets cover the large European languages, folded as in `Words`. Missing words do little harm: a word used by
/// all agents has little weight, and a word used by none has no weight.
enum FunctionWords {
    /// The words of all sets except `errands`.
    static let all: Set<String> = grammar.union(requests).union(connectives).union(references).union(answers)

    /// Words for continuing the topic at the beginning of a message.
    static let connectives = set(
        """
        and but or so then also because okay ok well actually instead otherwise either neither
        und oder aber dann also denn weil sondern
        et ou mais donc alors ensuite puis
        y o pero entonces luego ademas pues e ma allora poi quindi mas entao depois
        en maar of dus dan i a ale potem а и но или тогда потом
        """)

    /// Words for referring to earlier messages.
    static let references = set(
        """
        it its that this those these them they he she him her his their there here one ones same another both first second
        third fourth fifth previous former latter other others else more again above
        dies diese dieser dieses davon dazu dort erste zweite dritte letzte andere noch mehr nochmal
        ca cela ceci celui celle ceux premier premiere deuxieme troisieme dernier derniere autre encore
        eso esto esa ese aquel primero primera segundo segunda tercero ultimo ultima otro otra mas
        quello quella questo questa primo prima secondo seconda ultimo altro ancora isso esse essa primeiro outro
        dat deze eerste tweede ten ta pierwszy drugi это этот эта первый второй последний еще
        """)

    /// Words for agreeing, refusing, thanking and greeting.
    static let answers = set(
        """
        yes yeah yep yup no nope nah sure right correct exactly fine good great nice cool perfect awesome thanks thank thx
        please sorry hi hello hey bye wow agreed absolutely definitely maybe perhaps hmm continue
        ja nein doch danke bitte genau gut klar hallo vielleicht weiter
        oui non merci parfait bien bonjour daccord continue si gracias vale bueno claro hola sigue
        grazie ciao certo bene nao obrigado obrigada nee dank tak nie dziekuje да нет спасибо хорошо конечно
        """)

    /// Question words, and verbs at the beginning of questions.
    static let questions = set(
        """
        what which who whom whose when where why how is are was were do does did can could will would should may
        was wer wen wem wann wo warum wieso weshalb wie welche welcher welches kannst konnen ist sind
        que quoi qui quand ou pourquoi comment quel quelle combien est
        quien cuando donde cual como cuanto porque che chi quando dove perche come quale quanto qual onde
        wat wie waar waarom hoe co kto kiedy gdzie dlaczego jak что кто когда где почему как какой сколько
        """)

    /// Words for requesting an action. They are typical of all kinds of agents (planning, booking, finding), so
    /// they have less weight than words for a topic.
    static let errands = set(
        """
        plan book find track show check change update manage make create start begin set look search choose suggest
        buchen planen plane suchen finden andern
        reserver chercher trouver changer reservar buscar encontrar cambiar
        """)

    private static let requests = set(
        """
        tell show give make get let help want need like know think mean explain find look ask try go going got take use
        using used work works working question questions answer answers information info detail details thing things something
        anything everything nothing way kind lot bit user users agent assistant handle handles provide provides
        zeig sag gib mach hilf erklaer mochte will brauche frage fragen hilft
        montre donne dis fais aide explique veux voudrais peux besoin aider
        dime dame muestra haz ayuda explica quiero necesito puedes puedo ayudar dimmi mostra aiuta voglio puoi
        """)

    private static let grammar = questions.union(
        set(
            """
            a an the i me my mine we us our ours you your yours be been being am have has had having not to of in on at by for
            from with about into onto over under up down out off as than if while until before after between through during
            without within against per via all any some each every few many much most such only own too very just now still
            even ever never always often next last s t d ll m re ve don doesn didn isn aren wasn won wouldn couldn shouldn haven
            hasn cannot must might shall im ive id
            ein eine einen einem einer eines der die das den dem des es ich du er sie wir ihr mich mir dich dir uns euch mein meine meinen
            dein deine sein seine bin bist sind habe haben hatte wird werden zu zum zur von vom im in an am auf aus bei
            mit nach fur uber um nicht kein keine nur auch schon sehr so sich wenn ob
            le la les un une des du de au aux je tu il elle on nous vous ils elles me te se mon ma mes ton ta tes sa ses notre
            votre leur suis es sommes etes sont ai as avons avez ont ne pas plus dans sur sous avec sans pour par chez y tres
            j l n d c qu m
            el los las unos unas del al yo tu el ella nosotros ellos mi mis su sus soy eres somos son estoy esta estan he ha
            han no en con sin por para sobre muy ya lo le les me te se nos
            il lo gli i uno di da nel nella con su per tra fra non sono sei siamo ho hai abbiamo hanno mio mia tuo tua molto
            um uma do da dos das no na nos nas em com sem por para eu ele ela meu minha seu sua nao muito
            het een ik jij je hij zij wij van op te met voor naar niet ook
            w z na do od po dla o sie jest sa mi moj в на с по к у о за из для от не мне мой моя я ты он она мы вы они
            """))

    /// Whether a pair of characters of a script without spaces is grammar. In Japanese, grammar is written in
    /// hiragana; in Chinese, with a small set of characters.
    static func isGrammar(_ pair: String) -> Bool {
        pair.unicodeScalars.allSatisfy { (0x3041...0x309F).contains($0.value) || chineseGrammar.contains($0) }
    }

    private static let chineseGrammar = Set(
        "的了是我你您他她它们吗呢吧啊呀嘛这那哪什么怎为可以请和跟在有没不就也都还很再又把被给让想要会能好第一二三四五个下上说谢对行".unicodeScalars)

    private static func set(_ words: String) -> Set<String> {
        Set(Words(words).words)
    }
}
