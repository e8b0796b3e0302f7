const answer: number = ;
