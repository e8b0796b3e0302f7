const answer = ;
